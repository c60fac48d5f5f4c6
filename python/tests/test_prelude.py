"""Preludes: compiled, loaded, verified and attached."""

import pytest

import ptc

KEY = "07" * 32
SOURCE = '(ns shop "The shop.") (defn price "Price of an item." [item] (tool/price {:of item}))'
TOOLS = {"price": lambda of: {"tea": 3, "cake": 5}[of]}


def test_a_prelude_is_called_like_builtins():
    shop = ptc.Prelude.compile(SOURCE)
    assert shop.namespaces == ["shop"] and shop.exports == ["shop/price"]
    assert "Price of an item." in shop.inventory
    assert ptc.run('(map shop/price ["tea" "cake"])', tools=TOOLS, preludes=[shop]) == [3, 5]
    assert "shop/price" in ptc.card(TOOLS, preludes=[shop])
    with pytest.raises(ptc.CompileError, match="requires granted tool `price`"):
        ptc.run("1", preludes=[shop])


def test_one_prelude_may_use_another():
    shop = ptc.Prelude.compile(SOURCE)
    tax = ptc.Prelude.compile("(ns tax (:require [shop :as s])) (defn gross [i] (* 2 (s/price i)))", uses=[shop])
    assert ptc.run('(tax/gross "tea")', tools=TOOLS, preludes=[shop, tax]) == 6


def test_a_file_is_verified(tmp_path):
    shop = ptc.Prelude.compile(SOURCE)
    path = tmp_path / "shop.ptcp"
    path.write_bytes(shop.to_bytes())
    assert ptc.Prelude.load(path).hash == shop.hash
    assert ptc.Prelude.load(path, pin=shop.hash).interface_hash == shop.interface_hash
    with pytest.raises(ptc.CompileError):
        ptc.Prelude.load(path, pin="0" * 64)
    damaged = bytearray(shop.to_bytes())
    damaged[-1] ^= 1
    with pytest.raises(ptc.CompileError):
        ptc.Prelude.from_bytes(bytes(damaged))
    with pytest.raises(FileNotFoundError):
        ptc.Prelude.load(tmp_path / "nothing.ptcp")


def test_only_trusted_keys(tmp_path):
    shop = ptc.Prelude.compile(SOURCE)
    path = tmp_path / "shop.ptcp"
    path.write_bytes(shop.to_bytes())
    keys = ptc.public_key(KEY)
    with pytest.raises(ptc.CompileError) as caught:
        ptc.Prelude.load(path, trusted=keys)
    assert caught.value.kind == "untrusted"
    (tmp_path / "shop.ptcp.sig").write_text(shop.sign(KEY))
    signed = ptc.Prelude.load(path, trusted=keys)
    program = ptc.Program('(shop/price "tea")', tools=TOOLS, preludes=[signed], trusted=keys)
    assert program() == 3
    with pytest.raises(ptc.CompileError):
        ptc.Program("1", tools=TOOLS, preludes=[shop], trusted=keys)


def test_errors_of_a_source_have_places():
    with pytest.raises(ptc.CompileError) as caught:
        ptc.Prelude.compile("(ns shop)\n(defn price [item]\n  (fliter odd? item))")
    assert caught.value.line == 3 and "fliter" in caught.value.message
