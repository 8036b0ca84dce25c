"""Which package imports which: floors, houses, the pure packages, and no circles."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from harvest.runs import environment

from tests.loopback import web

ROOT = Path(__file__).parents[1] / "semcrawl"
PURE = ("relevance", "topics", "links", "sources", "rdf", "lab")
WIRED = {"scrapy", "scrapy_redis", "twisted", "redis", "aiohttp", "requests", "sqlalchemy"}
#: houses: each with its packages and the modules that it has among others. The core imports none
HOUSES = {
    "images": ("images", "imagesearch", "pipelines.images", "commands.images"),
    "lab": (
        *("lab", "commands.evaluate", "commands.demo"),
        *("relevance.contextgraph", "relevance.domains", "relevance.pagerank"),
        *("relevance.association_rules", "relevance.random", "relevance.url_distance"),
        "relevance.weighting",
    ),
    "results": (
        *("results", "commands.check"),
        *("commands.describe", "commands.diff", "commands.find", "commands.load", "commands.merge"),
        *("commands.pages", "commands.parquet", "commands.profile", "commands.query"),
        *("commands.report", "commands.why"),
    ),
}
#: packages, and modules beside them, from the highest floor to the lowest; each may import from its
#: own floor and from lower ones. What is not named here is the ground
FLOORS: list[set[str]] = [
    {"__main__", "commandline", "commands", "scrapycommands"},
    {"watch"},
    {"middlewares", "spiders"},
    {"pipelines"},
    {"crawl"},
    {"frontier"},
    {"metadata", "localpages"},
    {"relevance"},
    {"topics"},
    {"addon", "config", "houses"},
    {"reading"},
    {"sources"},
    {"rdf"},
    {"links"},
    {"items"},
]  # fmt: skip


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


MODULES = {name_of(path): path for path in ROOT.rglob("*.py")}


def house_of(module: str) -> str:
    """The house of a module; empty for those of the core."""
    own = f"{module}."
    houses = (
        house
        for house, parts in HOUSES.items()
        if own.startswith(tuple(f"semcrawl.{part}." for part in parts))
    )
    return next(houses, "")


def floor(module: str) -> int:
    if house_of(module):
        return -1
    part = [*module.split("."), ""][1]
    return next((n for n, parts in enumerate(FLOORS) if part in parts), len(FLOORS))


def imported(tree: ast.AST, *, functions: bool = True, types: bool = True) -> set[str]:
    """Names that a module imports, those in functions and those for types alone among them."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in MODULES else node.module)
        elif _is_left_out(node, functions=functions, types=types):
            continue
        else:
            found |= imported(node, functions=functions, types=types)
    return found


def _is_left_out(node: ast.AST, *, functions: bool, types: bool) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return not functions
    return not types and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


SOURCES = {module: path.read_text(encoding="utf-8") for module, path in MODULES.items()}
TREES = {module: ast.parse(source) for module, source in SOURCES.items()}


@pytest.mark.slow
def test_a_package_imports_from_its_own_floor_and_from_lower_ones() -> None:
    up = {
        (module, other)
        for module, tree in TREES.items()
        for other in imported(tree) & MODULES.keys()
        if floor(other) < floor(module)
    }
    assert not up


@pytest.mark.slow
@pytest.mark.parametrize("package", [*PURE, "images"])
def test_the_pure_packages_need_no_engine_and_no_server(package: str) -> None:
    """Nor does anything that they import. The images' database is a file, and opened."""
    wired = WIRED - {"sqlalchemy"} if package in ("images", "lab") else WIRED
    face = f"semcrawl.{package}"  # that of a house names what it plugs in
    waiting = [module for module in MODULES if module.startswith(f"{face}.")]
    seen: set[str] = set()
    while waiting:
        module = waiting.pop()
        if module in seen or module not in MODULES:
            continue
        seen.add(module)
        names = imported(TREES[module], types=False)
        waiting += names - {"semcrawl.images", "semcrawl.lab"}
        assert not {name.partition(".")[0] for name in names} & wired, module


def test_no_imports_go_round_in_circles() -> None:
    graph = {
        module: (imported(tree, functions=False, types=False) & MODULES.keys()) - {module}
        for module, tree in TREES.items()
    }
    TopologicalSorter(graph).prepare()  # raises CycleError


@pytest.mark.slow
def test_a_module_that_one_other_uses_has_a_name_with_an_underscore() -> None:
    """One neighbour uses it, and neither a test nor a benchmark nor a setting names it."""
    users: dict[str, set[str]] = {module: set() for module in MODULES}
    for module, tree in TREES.items():
        for name in imported(tree) & MODULES.keys() - {module}:
            users[name].add(module)
    folders = [ROOT.parent / name for name in ("tests", "benchmarks", "docs")]
    texts = "".join(
        path.read_text(encoding="utf-8")
        for folder in folders
        for path in folder.rglob("*")
        if path.suffix in {".py", ".md"}
    ) + (ROOT.parent / "pyproject.toml").read_text(encoding="utf-8")
    settings = "".join(re.findall(r"""["'](semcrawl\.[\w.]+)""", "".join(SOURCES.values())))
    open_names = set()
    for module, path in MODULES.items():
        package, _, name = module.rpartition(".")
        alone = len(users[module]) == 1 and path.name != "__init__.py"
        if not alone or name.startswith("_") or "migrations" in package:
            continue
        (user,) = users[module]
        neighbour = user.rpartition(".")[0] == package and MODULES[user].name != "__init__.py"
        used = module in texts or module in settings
        used = (
            used or re.search(rf"from {re.escape(package)} import .*\b{name}\b", texts) is not None
        )
        if neighbour and not used:
            open_names.add((module, user))
    assert not open_names


@pytest.mark.slow
def test_a_module_whose_name_has_an_underscore_is_used_in_its_package_alone() -> None:
    strangers = {
        (module, name)
        for module, tree in TREES.items()
        for name in imported(tree) & MODULES.keys()
        if name.rpartition(".")[2].startswith("_")
        and not name.endswith("__")
        and not module.startswith(name.rpartition(".")[0])
    }
    assert not strangers


@pytest.mark.slow
def test_nothing_but_the_frontier_itself_knows_a_backend() -> None:
    """Others are typed on the contracts, and open a frontier by ``frontier.backends``."""
    concrete = {"RedisFrontier", "ShardedFrontier", "SqliteFrontier", "RedisServer"}
    backends = tuple(f"semcrawl.frontier.{name}" for name in ("redis", "sharded", "sqlite"))
    found = set()
    for module, tree in TREES.items():
        if module.startswith("semcrawl.frontier"):
            continue
        found |= {(module, name) for name in imported(tree) if name.startswith(backends)}
        names = {a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
        found |= {(module, name) for name in names & concrete}
    assert not found


def test_the_contracts_of_the_frontier_know_no_backend() -> None:
    contracts = [m for m in MODULES if m.startswith("semcrawl.frontier.contract")]
    assert contracts
    for module in [*contracts, "semcrawl.frontier.transfer"]:
        names = imported(TREES[module])
        assert not [n for n in names if n.startswith(("redis", "semcrawl.frontier.redis"))], module


def test_to_import_a_contract_loads_no_backend() -> None:
    code = "import sys, semcrawl.frontier.contract; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    backends = ("redis", "semcrawl.frontier.redis", "semcrawl.frontier.s")
    assert not [name for name in done.stdout.split() if name.startswith(backends)]


def test_the_conformance_suite_knows_no_backend() -> None:
    suite = Path(__file__).parent / "frontier" / "conformance"
    for path in suite.glob("*.py"):
        names = imported(ast.parse(path.read_text(encoding="utf-8")))
        backends = ("redis", "semcrawl.frontier.redis")
        assert not [name for name in names if name.startswith(backends)], path.name
        assert "RedisFrontier" not in path.read_text(encoding="utf-8"), path.name


#: Names of several modules that each do the same for their own subject.
SAME_SUBJECT = {
    "contract", "endpoints", "env", "frontier", "importing", "inspection", "leftout", "limits",
    "links", "merging", "model", "options", "order", "outages", "pace", "queue", "registry",
    "robots", "said", "schema", "sharing", "sitemaps", "strategy",
}  # fmt: skip


def test_no_two_modules_share_a_name_and_do_different_things() -> None:
    """Modules of commands and of settings aside, which have the names of these."""
    aside = ("semcrawl.commands.", "semcrawl.settings.")
    modules = [module for module in MODULES if not module.startswith(aside)]
    stems = [
        stem for m in modules if not (stem := MODULES[m].stem.removeprefix("_")).startswith("_")
    ]
    shared = {name for name in stems if stems.count(name) > 1}
    assert not shared - SAME_SUBJECT


@pytest.mark.slow
def test_no_call_packs_its_arguments_into_a_row() -> None:
    """``f(*(a, b, c))`` hides from readers, editors and type checkers which argument is which."""
    packed = {
        f"{module}:{node.lineno}"
        for module, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for argument in node.args
        if isinstance(argument, ast.Starred) and isinstance(argument.value, ast.Tuple)
    }
    assert not packed


@pytest.mark.slow
def test_a_crawl_needs_no_extra() -> None:
    """Its pipelines, middlewares and spiders load without the packages of the extras."""
    code = (
        "import sys\n"
        "for name in ('PIL', 'imagehash', 'warcio', 'pyarrow', 'boto3', 'pyshacl', 'pandas'):\n"
        "    sys.modules[name] = None\n"
        "from scrapy.utils.misc import load_object\n"
        "from scrapy.settings import Settings\n"
        "from semcrawl.config.components import install, install_results\n"
        "settings = Settings()\n"
        "install(settings)\n"
        "install_results(settings)\n"
        "for name in ('ITEM_PIPELINES', 'DOWNLOADER_MIDDLEWARES', 'SPIDER_MIDDLEWARES'):\n"
        "    for part in settings.getdict(name):\n"
        "        load_object(part)\n"
        "import semcrawl.spiders, semcrawl.commands.harvest, semcrawl.commands.demo\n"
        "print(len(settings.getdict('ITEM_PIPELINES')))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 3


#: what a crawl of pages with its frontier in a file has no use for
UNUSED = (
    *("redis", "scrapy_redis", "semcrawl.frontier.redis", "semcrawl.frontier.sharded"),
    *("requests", "urllib3", "tldextract", "semcrawl.crawl.filefetching"),
    *("itemadapter", "pydantic", "scrapy.exporters", "scrapy.commands.shell", "scrapy.shell"),
    *("semcrawl.pipelines.documentfeeds", "scrapy.core.downloader.handlers.http11"),
    *("sqlalchemy.dialects.mysql", "sqlalchemy.dialects.postgresql", "rdflib"),
    *("PIL", "semcrawl.images.store", "semcrawl.pipelines.images", "semcrawl.imagesearch"),
    *("semcrawl.lab.study", "semcrawl.lab.demo", "semcrawl.watch", "semcrawl.localpages"),
    *("playwright", "semcrawl.crawl.browser", "semcrawl.crawl.rendering"),
)


@pytest.mark.slow
def test_a_crawl_with_its_frontier_in_a_file_loads_what_it_uses(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from semcrawl.__main__ import main\n"
        "try:\n"
        "    main(sys.argv)\n"
        "finally:\n"
        "    print('loaded', *sys.modules)\n"
    )
    page = b'<a href="/a.ttl">data</a>'
    turtle = b"<#s> <#p> 1 ."  # no host whose owner is asked of the list of public suffixes
    with web(lambda path, query: (
        (200, "text/turtle", turtle) if path == "/a.ttl" else (200, "text/html", page)
    )) as base:  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", code, "harvest", base, "--pages", "2", "--out", tmp_path / "job",
             *("-s", "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES=1", "-s", "SEMCRAWL_CRAWL_DELAY=0")],
            capture_output=True, text=True, cwd=tmp_path, env=environment(),
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "job" / "frontier.db").is_file()
    loaded = done.stdout.splitlines()[-1].split()
    assert {"semcrawl.frontier.sqlite.frontier", "semcrawl.crawl.downloadhandler"} <= {*loaded}
    unused = tuple(f"{name}." for name in UNUSED)
    assert not [name for name in loaded if f"{name}.".startswith(unused)]
