"""Spec files that include others, and values that are files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import invivo


def test_an_included_file_lies_below_and_is_listed(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("config: {n: 1, m: 1}")
    (tmp_path / "secret").write_text("hunter2\n")
    (tmp_path / "app.yaml").write_text('include: [base.yaml]\nconfig: {n: 2, secret: "file:secret"}')
    with invivo.Runtime(watch=tmp_path / "app.yaml") as runtime:
        assert [runtime.config(path) for path in ("n", "m", "secret")] == [2, 1, "hunter2"]
        assert [(Path(each.name).name, each.role) for each in runtime.sources] == [
            ("secret", "value"),
            ("base.yaml", "include"),
            ("app.yaml", "source"),
        ]


def test_documents_read_below_declared_roots(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "base.yaml").write_text("config: {n: 1}")
    (tmp_path / "own" / "app.yaml").write_text("include: ../shared/base.yaml")
    with pytest.raises(invivo.Error, match=r"lies outside of .*document_roots"):
        invivo.Runtime(watch=tmp_path / "own" / "app.yaml")
    with invivo.Runtime(watch=tmp_path / "own" / "app.yaml", document_roots=[tmp_path / "shared"]) as runtime:
        assert runtime.config("n") == 1
        runtime.source("memory", "include: base.yaml\nconfig: {m: 2}")
        assert runtime.config("m") == 2


def test_an_error_does_not_quote_a_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2")
    (tmp_path / "app.yaml").write_text('config: {app: {n: "file:secret"}}')
    with invivo.Runtime() as runtime:
        runtime.define(int, "app.number", args=[invivo.config("n", 0)])
        with pytest.raises(invivo.Error) as caught:
            runtime.watch(tmp_path / "app.yaml")
            runtime["app.number"]
        assert "hunter2" not in str(caught.value)


def test_the_root_of_the_file_system_may_be_declared_and_a_directory_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "own").mkdir()
    own = tmp_path / "own" / "app.yaml"
    own.write_text(f"config: {{ n: 'file:{tmp_path}/secret' }}")
    with invivo.Runtime(watch=own, document_roots=["/"]) as runtime:
        assert runtime.config("n") == "x"
    with pytest.raises(invivo.Error) as caught:
        invivo.Runtime(watch=own, document_roots=[tmp_path / "own"])
    assert f"lies outside of {tmp_path}/own: a document" in str(caught.value)


@pytest.mark.parametrize("roots", ["/srv/spec", Path("/srv/spec"), b"/srv/spec", 3])
def test_a_list_of_directories_is_no_string(roots: Any) -> None:
    with pytest.raises(invivo.WrongTypeError, match=r'document_roots is a list, such as \["/srv/spec"\], not'):
        invivo.Runtime(document_roots=roots)
    with pytest.raises(invivo.WrongTypeError, match="choices are a list of names"):
        invivo.tunable("a", choices="ab")
