"""What pages declare: JSON-LD, microdata, RDFa, meta tags."""

from __future__ import annotations

from annotation.algorithms.suggestions.declared import read_declared
from tests.algorithms.annotation.suggestions.test_suggestion import tree_of


def told(html: str) -> dict[str, str]:
    return {declaration.path: declaration.value for declaration in read_declared(tree_of(html))}


def test_json_ld_gives_paths_of_nested_things() -> None:
    html = """<script type="application/ld+json">{"@context": "https://schema.org", "@graph": [{"@type": "Product",
    "name": "Rope", "offers": [{"price": 9.5, "availability": "https://schema.org/InStock"}]}]}</script>"""
    result = told(html)
    assert ("Rope", "9.5", "In Stock") == (
        result["name"],
        result["offers.price"],
        result["offers.availability"],
    )


def test_broken_and_deep_json_says_nothing() -> None:
    script = '<script type="application/ld+json">{}</script>'
    assert {} == told(script.replace("{}", '{"name": "Rope"'))
    assert {} == told(script.replace("{}", "[" * 5_000 + "]" * 5_000))


def test_microdata_goes_over_the_things_around() -> None:
    html = """<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Rope</h1>
    <div itemprop="offers" itemscope><meta itemprop="price" content="9.50"></div>
    <img itemprop="image" src="/r.png"></div>"""
    assert {"name": "Rope", "offers.price": "9.50", "image": "/r.png"} == told(html)


def test_rdfa_and_meta_tags_are_read() -> None:
    html = """<head><meta property="og:title" content="Rope"><meta name="Keywords" content="red, blue"></head>
    <div typeof="Product"><b property="schema:sku">S-1</b></div>"""
    results = [
        (declaration.path, declaration.value, declaration.source)
        for declaration in read_declared(tree_of(html))
    ]
    assert ("sku", "S-1", "microdata") in results
    assert ("og:title", "Rope", "meta") in results
    assert [("keywords", "red", "meta"), ("keywords", "blue", "meta")] == [
        result for result in results if result[0] == "keywords"
    ]


def test_what_stands_on_pages_of_any_kind_weighs_less() -> None:
    html = (
        '<script type="application/ld+json">[{"@type": "WebSite", "name": "Shop"}, {"@type": '
        '"Product", "name": "Rope"}]</script>'
    )
    weights = {
        declaration.value: declaration.weight for declaration in read_declared(tree_of(html))
    }
    assert weights["Shop"] < weights["Rope"]
