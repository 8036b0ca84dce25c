import http.client
import ssl
from urllib.parse import urlsplit

import pytest

from semcrawl.lab.serve import WorldServer
from tests.evaluation.worlds import members


def ask(server, url, method="GET"):
    connection = http.client.HTTPConnection(urlsplit(server.address).netloc, timeout=10)
    connection.request(method, url, headers={"Host": urlsplit(url).netloc})
    response = connection.getresponse()
    return response, response.read()


def test_a_world_is_served_as_it_answers():
    world = members()
    with WorldServer(world) as server:
        response, body = ask(server, "http://members.example/news")
        assert (response.status, body) == (200, world.body("http://members.example/news"))
        response, _ = ask(server, "http://members.example/everybody")
        assert response.getheader("Location") == "http://members.example/members/"
        assert ask(server, "http://members.example/robots.txt")[0].status == 404
        assert ask(server, "http://elsewhere.example/")[0].status == 404
        response, body = ask(server, "http://members.example/", "HEAD")
        assert (response.status, body) == (200, b"")
        assert [one.status for one in server.log] == [200, 303, 404, 404, 200]
        assert [one.robots for one in server.log] == [False, False, True, False, False]


def over_tls(server):
    connection = http.client.HTTPSConnection(
        urlsplit(server.address).netloc,
        timeout=10,
        context=ssl._create_unverified_context(),  # as crawlers have it
    )
    connection.set_tunnel("members.example", 443)
    return connection


def test_a_world_is_served_over_tls():
    with WorldServer(members()) as server:
        connection = over_tls(server)
        for path, status in (("/robots.txt", 404), ("/never", 404)):
            connection.request("GET", path)
            response = connection.getresponse()
            response.read()
            assert response.status == status
        assert [(one.url, one.robots) for one in server.log] == [
            ("https://members.example/robots.txt", True),
            ("https://members.example/never", False),
        ]


@pytest.mark.parametrize("tls", [False, True])
def test_it_stops_quietly_while_a_crawler_is_connected(tls, capfd, caplog):
    with WorldServer(members()) as server:
        if tls:
            connection = over_tls(server)
        else:
            connection = http.client.HTTPConnection(urlsplit(server.address).netloc, timeout=10)
        connection.request("GET", "http://members.example/")
        connection.getresponse().read()
    assert capfd.readouterr().err == caplog.text == ""
    assert connection.sock.recv(1) == b""


def test_nonsense_ends_only_its_own_connection():
    with WorldServer(members()) as server:
        address = urlsplit(server.address)
        connection = http.client.HTTPConnection(address.netloc, timeout=10)
        connection.connect()
        connection.sock.sendall(b"\x00\xff nonsense\r\ncontent-length: x\r\n\r\n")
        assert connection.sock.recv(100) == b""
        assert ask(server, "http://members.example/")[0].status == 200
