"""Hosts are told what lets the crawl in; nobody else is, and nothing of it is kept."""

from __future__ import annotations

import gzip
import ssl
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from threading import Thread

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from harvest.runs import harvest
from semcrawl.config.logins import read_logins
from semcrawl.errors import UsageError
from semcrawl.results.stores.opening import with_login
from semcrawl.results.stores.sparql import SparqlOptions
from semcrawl.settings.reader import fill

PASSWORD, TOKEN, COOKIE, KEY = "pass-word-1", "to-ken-2", "coo-kie-3", "api-key-4"
SECRETS = [PASSWORD, TOKEN, COOKIE, KEY, b64encode(f"ann:{PASSWORD}".encode()).decode()]


def written(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_login_is_for_its_scheme_host_port_and_folder(tmp_path: Path) -> None:
    file = written(
        tmp_path / "logins.toml",
        """["Example.org"]
        user = "ann"
        password = "a"
        ["example.org/deep/"]
        token = "b"
        ["http://plain.example:8080"]
        cookies = {x = "1", y = "2"}
        headers = {X-Key = "k"}
        """,
    )
    logins = read_logins({"SEMCRAWL_LOGINS": str(file)})

    def told(url: str) -> dict[str, str]:
        login = logins.of(url)
        return dict(login.headers) if login else {}

    basic = {"Authorization": "Basic YW5uOmE="}
    assert told("https://example.org/") == told("https://example.org:443/deeper") == basic
    assert told("https://example.org/deep/x?y") == {"Authorization": "Bearer b"}
    assert told("https://example.org/deep") == {"Authorization": "Bearer b"}
    assert told("http://plain.example:8080/x") == {"X-Key": "k", "Cookie": "x=1; y=2"}
    for url in (
        *("http://example.org/", "https://example.org:8443/", "https://www.example.org/"),
        *("https://example.org.evil/", "https://example.org@evil/", "https://evil/example.org"),
        *("http://plain.example/", "https://plain.example:8080/", "http://plain.example:99999/"),
    ):
        assert not told(url), url
    assert "ann" not in repr(logins.of("https://example.org/"))


def test_secrets_come_from_the_environment_or_a_private_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANNS", "from-env")
    file = written(tmp_path / "token", "from-file\n")
    table = {
        "a.example": {"user": "ann", "password": {"env": "ANNS"}},
        "b.example": {"token": {"file": str(file)}},
    }
    logins = read_logins({"SEMCRAWL_LOGINS": table})
    assert logins.of("https://a.example/").password == "from-env"
    assert dict(logins.of("https://b.example/").headers) == {"Authorization": "Bearer from-file"}


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("nowhere.toml", "cannot be read: No such file"),
        ('{"a"', "nor JSON"),
        ({"a b": {}}, "a b is no host"),
        ({"ann:x@a.example": {}}, "is no host"),
        ({"a.example": 1}, "must be a table with some of user"),
        ({"a.example": {"pasword": {"env": "X"}}}, "did you mean password?"),
        ({"a.example": {"user": "a:b"}}, "without colon"),
        ({"a.example": {"password": {"env": "X"}}}, "a.example: password: the environment has no"),
        ({"a.example": {"token": "word"}}, 'token would show a secret: write {env = "NAME"}'),
        ({"a.example": {"token": {"vault": "x"}}}, "token must be a text"),
        ({"a.example": {"token": {"file": "none"}}}, "none: cannot be read"),
        ({"a.example": {"cookies": ["x"]}}, "cookies must be a table"),
        ({"a.example": {"headers": {"a b": "x"}}}, "headers: 'a b' cannot be a name"),
        ({"a.example": {"user": "u", "token": {"env": "HOME"}}}, "one header twice"),
        ({"a.example": {"ca": "none.pem"}}, "the certificate or its key cannot be used"),
        ({"http://a.example": {"ca": "none.pem"}}, "certificates are for https"),
    ],
)
def test_what_is_wrong_is_said_without_secrets(table: object, words: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_logins({"SEMCRAWL_LOGINS": table})
    assert str(refused.value).startswith("SEMCRAWL_LOGINS")
    assert words in str(refused.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_file_that_others_may_read_is_refused(mode: int, tmp_path: Path) -> None:
    file = written(tmp_path / "logins.toml", "", mode)
    with pytest.raises(UsageError, match="chmod 600"):
        read_logins({"SEMCRAWL_LOGINS": str(file)})


class Server(ThreadingHTTPServer):
    """Answers ``pages``: a path's body, or the address of a redirect; notes all requests."""

    daemon_threads = True

    def __init__(self, pages: dict[str, str], needed: str = "") -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pages, self.needed = pages, needed
        self.asked: list[tuple[str, dict[str, str]]] = []


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append((self.path, dict(self.headers)))
        page = self.server.pages.get(self.path)
        if self.path == "/robots.txt" or page is None:
            self.send_response(404)
        elif self.server.needed not in str(self.headers):
            self.send_response(401)
        elif page.startswith("http"):
            self.send_response(302)
            self.send_header("Location", page)
        else:
            self.send_response(200)
            self.send_header("Content-Type", "text/turtle" if "<a>" in page else "text/html")
            if self.server.needed:
                self.send_header("Set-Cookie", f"session={COOKIE}")
        body = page.encode() if page and not page.startswith("http") else b""
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def served(server: Server) -> Iterator[int]:
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_no_other_host_is_told_and_nothing_is_kept(workers: str, tmp_path: Path) -> None:
    """Another port of the same name is another host."""
    closed, other = Server({}, needed=f"ann:{PASSWORD}"), Server({"/x": "<a> <a> <a> ."})
    closed.needed = "Authorization: Basic " + SECRETS[-1]
    with served(closed) as port, served(other) as elsewhere:
        closed.pages |= {
            "/": f'<a href="/away">a.ttl</a> <a href="/in.ttl">b</a> '
            f'<a href="http://127.0.0.1:{elsewhere}/x">c.ttl</a>',
            "/in.ttl": "<a> <b> <a> .",
            "/away": f"http://127.0.0.1:{elsewhere}/x",
        }
        other.pages["/x"] = "<a> <b> <a> ."
        logins = written(
            tmp_path / "logins.toml",
            f"""["http://127.0.0.1:{port}"]
            user = "ann"
            password = "{PASSWORD}"
            cookies = {{ session = "{COOKIE}" }}
            headers = {{ X-Key = "{KEY}" }}
            """,
        )
        out = tmp_path / "out"
        run = harvest(
            *(f"http://127.0.0.1:{port}/", "--fast", "--record", "--workers", workers),
            *("-s", f"SEMCRAWL_LOGINS={logins}", "-L", "DEBUG", "-s", "SEMCRAWL_RECORD_LINKS=1"),
            folder=out,
        )
    assert run.status == 0, run.err
    outcomes = run.outcomes()
    assert outcomes[f"http://127.0.0.1:{port}/in.ttl"] == ["fetched-rdf"]
    assert outcomes[f"http://127.0.0.1:{port}/away"] == ["redirected"]
    assert outcomes[f"http://127.0.0.1:{elsewhere}/x"] == ["fetched-rdf"]
    for path, headers in closed.asked:
        assert headers["Authorization"].endswith(SECRETS[-1]), path
        assert headers["Cookie"] == f"session={COOKIE}"
        assert headers["X-Key"] == KEY
    assert len(other.asked) >= 2
    for path, headers in other.asked:
        assert not {"Authorization", "Cookie", "X-Key"} & headers.keys(), path
    kept = [file for file in out.rglob("*") if file.is_file()]
    assert any(file.name.endswith(".warc.gz") for file in kept)
    for file in kept:
        content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        assert not [secret for secret in SECRETS if secret.encode() in content], file
    assert not [secret for secret in SECRETS if secret in run.out + run.err]


def certificates(folder: Path) -> dict[str, Path]:
    """An authority, and what it gave to a server and to a client."""
    now = datetime.now(UTC)
    ca_key = ec.generate_private_key(ec.SECP256R1())
    ca_name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "authority")])
    files = {}
    for name in ("ca", "server", "client"):
        key = ca_key if name == "ca" else ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        certificate = (
            x509.CertificateBuilder()
            .subject_name(ca_name if name == "ca" else subject)
            .issuer_name(ca_name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=name == "ca", path_length=None), critical=True)
            .add_extension(
                x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), False
            )
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), False
            )
            .add_extension(
                x509.KeyUsage(True, False, False, False, False, name == "ca", False, False, False),
                critical=True,
            )
            .sign(ca_key, hashes.SHA256())
        )
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        public = certificate.public_bytes(Encoding.PEM)
        files[name] = written(folder / f"{name}.pem", "")
        files[name].write_bytes(public if name == "ca" else private + public)
    return files


@pytest.mark.slow
def test_a_host_that_asks_for_a_certificate_gets_it_if_it_proves_who_it_is(tmp_path: Path) -> None:
    files = certificates(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files["server"])
    context.load_verify_locations(files["ca"])
    context.verify_mode = ssl.CERT_REQUIRED
    server = Server({"/": "<a> <b> <a> ."}, needed=TOKEN)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with served(server) as port:
        url = f"https://127.0.0.1:{port}/"

        def run(name: str, *lines: str) -> list[str]:
            file = written(
                tmp_path / f"{name}.toml",
                "\n".join([f'["127.0.0.1:{port}"]', f'token = "{TOKEN}"', *lines]),
            )
            found = harvest(
                *(url, "--fast", "-s", f"SEMCRAWL_LOGINS={file}", "-s", "RETRY_TIMES=0"),
                folder=tmp_path / name,
            )
            assert TOKEN not in found.err + (found.folder / "crawl.log").read_text()
            return found.outcomes()[url]

        client, ca = f'certificate = "{files["client"]}"', f'ca = "{files["ca"]}"'
        assert run("both", client, ca)[-1] == "fetched-rdf"
        before = len(server.asked)
        assert "fetched-rdf" not in run("unproven", client)  # nobody whom we trust vouches for it
        assert "fetched-rdf" not in run("unknown", ca)  # it does not know us
        assert len(server.asked) == before


def test_a_triple_store_gets_the_user_of_its_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANNS", "hers")
    settings = {
        "SEMCRAWL_STORE_URL": "http://store.example:7878/store",
        "SEMCRAWL_LOGINS": {
            "http://store.example:7878": {"user": "ann", "password": {"env": "ANNS"}}
        },
    }
    found = with_login(fill(SparqlOptions, settings), settings)
    assert (found.user, found.password) == ("ann", "hers")
    named = settings | {"SEMCRAWL_STORE_USER": "bob"}
    assert with_login(fill(SparqlOptions, named), named).user == "bob"
