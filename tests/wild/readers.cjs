// Readers of RDF that are not ours. One request a line, {kind, text, base, type, contexts}; one
// answer a line, {lines} or {lines, error}. Kinds: jsonld, rdfa, microdata, rdfxml, turtle, ...
const path = require("path");
const modules = process.argv[2];
const load = (name) => require(path.join(modules, "node_modules", name));
const { JsonLdParser } = load("jsonld-streaming-parser");
const { RdfaParser } = load("rdfa-streaming-parser");
const { MicrodataRdfParser } = load("microdata-rdf-streaming-parser");
const { RdfXmlParser } = load("rdfxml-streaming-parser");
const N3 = load("n3");

const LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";
const escapes = { "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const string = (text) => text.replace(/[\\"\n\r\t]/g, (sign) => escapes[sign]);
function term(t) {
  if (t.termType === "NamedNode") return `<${t.value}>`;
  if (t.termType === "BlankNode") return `_:${t.value.replace(/[^A-Za-z0-9]/g, "x")}`;
  if (t.termType !== "Literal") return `?${t.termType}`;
  const text = `"${string(t.value)}"`;
  if (t.language) return `${text}@${t.language.toLowerCase()}`;
  const type = t.datatype.value;
  const plain = ["http://www.w3.org/2001/XMLSchema#string", LANG_STRING];  // of an empty tag
  return plain.includes(type) ? text : `${text}^^<${type}>`;
}
function line(quad) {
  const graph = quad.graph.termType === "DefaultGraph" ? "" : ` ${term(quad.graph)}`;
  return `${term(quad.subject)} ${term(quad.predicate)} ${term(quad.object)}${graph} .`;
}

function parser({ kind, base, type, contexts }) {
  const known = contexts || {};
  if (kind === "jsonld") {
    return new JsonLdParser({
      baseIRI: base,
      documentLoader: {
        load: async (url) => {
          if (url in known) return known[url];
          throw new Error(`no context ${url}`);
        },
      },
    });
  }
  if (kind === "rdfa") return new RdfaParser({ baseIRI: base, contentType: type || "text/html" });
  if (kind === "microdata") return new MicrodataRdfParser({ baseIRI: base });
  if (kind === "rdfxml") return new RdfXmlParser({ baseIRI: base });
  return new N3.StreamParser({ baseIRI: base, format: kind });
}

function answer(request) {
  return new Promise((resolve) => {
    const lines = [];
    let done = false;
    const finish = (error) => {
      if (!done) resolve(error ? { lines, error: String(error).slice(0, 300) } : { lines });
      done = true;
    };
    try {
      const stream = parser(request);
      stream.on("data", (quad) => lines.push(line(quad)));
      stream.on("error", finish);
      stream.on("end", () => finish());
      stream.write(request.text);
      stream.end();
    } catch (error) {
      finish(error);
    }
    setTimeout(() => finish("no end"), 20000).unref();
  });
}

const input = require("readline").createInterface({ input: process.stdin, crlfDelay: Infinity });
let queue = Promise.resolve();
input.on("line", (text) => {
  queue = queue.then(async () => {
    process.stdout.write(JSON.stringify(await answer(JSON.parse(text))) + "\n");
  });
});
