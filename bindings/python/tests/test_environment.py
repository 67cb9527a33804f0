"""The environment: variables in documents, and as a layer of the configuration."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

import invivo
from invivo import Runtime


def document(runtime: Runtime, text: str, name: str = "a.yaml") -> None:
    with runtime.changes() as changes:
        changes.document(name, text)


def test_refresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IV_PY__audio__rate", "44100")
    monkeypatch.setenv("IV_PY_NAME", "saw")
    with Runtime(environment_prefix="IV_PY__", log_level="silent") as runtime:
        assert runtime.options.environment_prefix == "IV_PY__"
        assert runtime.config("audio.rate") == 44_100
        assert runtime.generation == 0
        document(runtime, 'config: { audio: { name: "${IV_PY_NAME}" } }')
        monkeypatch.setenv("IV_PY__audio__rate", "48000")
        monkeypatch.setenv("IV_PY_NAME", "sine")
        assert (runtime.config("audio.rate"), runtime.config("audio.name")) == (44_100, "saw")
        runtime.refresh_environment()
        assert (runtime.config("audio.rate"), runtime.config("audio.name")) == (48_000, "sine")
        assert runtime.generation == 2
        report = runtime.reports[-1]
        assert [cause.kind for cause in report.causes] == ["environment"]
        (rate,) = [change for change in report.changes if change.key == "audio.rate"]
        assert (rate.origin, rate.layer, rate.file) == ("environment", "IV_PY__", "IV_PY__audio__rate")
        monkeypatch.delenv("IV_PY_NAME")
        with pytest.raises(invivo.Error, match="the environment variable 'IV_PY_NAME' is not set"):
            runtime.refresh_environment()
        assert runtime.config("audio.name") == "sine"
    with Runtime(log_level="silent") as runtime:
        assert runtime.options.environment_prefix is None
        with pytest.raises(invivo.NotConfiguredError):
            runtime.config("audio.rate")
    with pytest.raises(invivo.ClosedError):
        runtime.refresh_environment()


def test_annotations_decide_the_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IV_PY__a__name", "0123")
    monkeypatch.setenv("IV_PY__a__count", "7")
    monkeypatch.setenv("IV_PY__a__ratio", "0.5")
    monkeypatch.setenv("IV_PY__a__on", "true")
    monkeypatch.setenv("IV_PY__a__tags", "[x, y]")

    class Part:
        def __init__(self, name: str, count: int, ratio: float, on: bool, tags: list[str]) -> None:
            self.all = (name, count, ratio, on, tags)

    with Runtime(environment_prefix="IV_PY__", log_level="silent") as runtime:
        runtime.define(
            Part,
            "a.part",
            name=invivo.config("name"),
            count=invivo.config("count"),
            ratio=invivo.config("ratio"),
            on=invivo.config("on"),
            tags=invivo.config("tags"),
        )
        assert runtime.resolve("a.part").all == ("0123", 7, 0.5, True, ["x", "y"])
        monkeypatch.setenv("IV_PY__a__count", "hunter2")
        with pytest.raises(invivo.Error, match="the environment variable 'IV_PY__a__count'") as refused:
            runtime.refresh_environment()
        assert "hunter2" not in str(refused.value)


def test_a_wrong_prefix() -> None:
    for prefix in ("", "A=B"):
        with pytest.raises(invivo.ArgumentError, match="environment_prefix"):
            Runtime(environment_prefix=prefix)
    with pytest.raises(TypeError):
        Runtime(environment_prefix=5)  # type: ignore[arg-type]


@pytest.mark.parametrize("command", [["check"], ["check", "--no-modules"], ["graph"], ["keys"], ["run"]])
def test_commands_read_variables_with_the_prefix(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    manifest = tmp_path / "app.yaml"
    manifest.write_text("components: {}\n")
    # An error, so that each command shows that it has read the variable.
    monkeypatch.setenv("IV_TOOL__a____b", "1")
    arguments = [sys.executable, "-m", "invivo", *command, "--environment-prefix", "IV_TOOL__", str(manifest)]
    done = subprocess.run(arguments, capture_output=True, check=False, text=True, timeout=120)
    assert done.returncode == 2
    assert "IV_TOOL__a____b: error: a part of the name is empty" in done.stdout + done.stderr


def test_an_unsuitable_value_of_a_variable_names_the_annotation(monkeypatch: pytest.MonkeyPatch) -> None:
    class Part:
        def __init__(self, numbers: set[int]) -> None: ...

    monkeypatch.setenv("IV_PY_NUMBERS", "x")
    with Runtime(log_level="silent") as runtime:
        document(runtime, 'config: { a: { numbers: "${IV_PY_NUMBERS}" } }')
        with pytest.raises(invivo.Error, match=r"expected a value for the converter 'annotation: set\[int\]'"):
            runtime.define(Part, "a.part", scope="singleton", numbers=invivo.config("numbers"))
