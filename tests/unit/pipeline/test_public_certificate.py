"""What a certificate may say, and who wrote it."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

import shoal
from shoal.errors import InputError
from shoal.models.forms import value_digest
from shoal.pipeline.certificate import self_hash
from shoal.pipeline.public_certificate import proves
from shoal.pipeline.verify_files import verify_certified


@pytest.fixture
def job(tmp_path: Path) -> shoal.Job:
    rows = [f"{20 + row % 7},{'NA' if row == 3 else 'fm'[row % 2]},{'abc'[row % 3]}" for row in range(60)]
    (tmp_path / "table.csv").write_text("age,sex,disease\n" + "\n".join(rows) + "\n")
    (tmp_path / "sex.csv").write_text("f;*\nm;*\n")
    return shoal.Job(
        input=tmp_path / "table.csv",
        output=tmp_path / "out.csv",
        quasi=("age", "sex"),
        sensitive=("disease",),
        k=3,
        models=("l-diversity:disease:2",),
        missing=("NA",),
        hierarchies={"sex": str(tmp_path / "sex.csv")},
        algorithm="mondrian",
        certificate=tmp_path / "certificate.json",
        public_certificate=tmp_path / "public.json",
    )


def certificates(job: shoal.Job) -> tuple[dict[str, Any], dict[str, Any]]:
    shoal.run(job)
    assert job.certificate is not None
    assert job.public_certificate is not None
    return json.loads(job.certificate.read_text()), json.loads(job.public_certificate.read_text())


def keys(folder: Path, name: str = "key") -> tuple[Path, Path]:
    key = Ed25519PrivateKey.generate()
    private, public = folder / f"{name}.pem", folder / f"{name}.pub"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return private, public


def every_digest(content: Any) -> set[str]:
    if isinstance(content, dict):
        return set().union(*(every_digest(one) for one in content.values()), set())
    if isinstance(content, list):
        return set().union(*(every_digest(one) for one in content), set())
    return {content} if isinstance(content, str) and len(content) == 64 else set()


def test_nothing_in_the_public_certificate_confirms_a_guess(job: shoal.Job) -> None:
    assert job.input is not None
    holder, public = certificates(job)
    table = hashlib.sha256(Path(str(job.input)).read_bytes()).hexdigest()
    assert table in every_digest(holder)
    known = every_digest(holder) - {holder["hashes"]["release"]}
    assert known & every_digest(public) == set()  # neither of the table, nor of a hierarchy, nor of named values
    assert public["hashes"]["release"] == holder["hashes"]["release"]
    assert "salt" not in json.dumps(public["job"])
    assert "private" not in public
    assert "may be published" in public["publish"]
    assert "holder" in holder["publish"]


def test_the_salt_is_another_one_each_time_and_proves_the_table(job: shoal.Job) -> None:
    holder, public = certificates(job)
    again, other = certificates(job)
    assert public["hashes"]["input_keyed"] != other["hashes"]["input_keyed"]
    assert proves(public, holder)
    assert proves(other, again)
    assert not proves(public, again)
    assert not proves(public, {**holder, "hashes": {**holder["hashes"], "input": "0" * 64}})
    without = job.model_copy(update={"public_certificate": None})
    shoal.run(without)
    assert job.certificate is not None
    plain = json.loads(job.certificate.read_text())
    assert "private" not in plain  # nothing random where nothing needs it: same job, same bytes
    assert not proves(public, plain)


def test_a_public_certificate_verifies_a_release(job: shoal.Job) -> None:
    _, public = certificates(job)
    assert isinstance(job.output, Path)
    found = verify_certified(job.output, public, missing=job.missing)
    assert found["passed"]
    assert "computes it anew" in found["signature"]
    job.output.write_bytes(job.output.read_bytes() + b"\n")
    assert not verify_certified(job.output, public, missing=job.missing)["passed"]


def test_any_change_breaks_the_signature(job: shoal.Job, tmp_path: Path) -> None:
    private, public_key = keys(tmp_path)
    assert isinstance(job.output, Path)
    for certificate in certificates(job.model_copy(update={"sign": private})):
        found = verify_certified(job.output, certificate, signer=public_key)
        assert found["passed"]
        assert found["signature"] == "The signature is that of the named key."
        assert verify_certified(job.output, certificate)["passed"]  # valid, though nobody said whose it should be
        for name in certificate.keys() - {"signature", "self_hash"}:
            changed = {**certificate, name: [certificate[name]]}
            if name in ("quasi", "models", "hashes", "job", "columns", "csv", "loss"):
                changed = {**certificate, name: certificate[name], "added": 1}
            changed["self_hash"] = self_hash(changed)  # as somebody does who means it
            assert not verify_certified(job.output, changed, signer=public_key)["passed"], name
        stripped = {name: value for name, value in certificate.items() if name != "signature"}
        assert not verify_certified(job.output, stripped, signer=public_key)["passed"]
        other = verify_certified(job.output, certificate, signer=keys(tmp_path, "other")[1])
        assert not other["passed"]
        assert "ANOTHER" in other["signature"]
        for broken in ({}, "x", {"kind": "Ed25519", "public_key": "zz", "value": "zz"}, [1]):
            assert not verify_certified(job.output, {**certificate, "signature": broken})["passed"]


@pytest.mark.parametrize("content", [b"", b"no key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_what_is_no_key_is_refused_before_any_work(job: shoal.Job, tmp_path: Path, content: bytes) -> None:
    key = tmp_path / "key.pem"
    key.write_bytes(content)
    for wrong in (key, tmp_path / "nothing.pem", keys(tmp_path, "good")[1]):
        with pytest.raises(InputError) as caught:
            shoal.run(job.model_copy(update={"sign": wrong}))
        assert caught.value.reasons == ("bad-key-file",)
    assert not (tmp_path / "out.csv").exists()


def test_a_public_certificate_alone_has_no_salt_to_keep(job: shoal.Job) -> None:
    with pytest.raises(InputError) as caught:
        shoal.run(job.model_copy(update={"certificate": None}))
    assert caught.value.reasons == ("no-certificate",)


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_modes_of_files(job: shoal.Job, tmp_path: Path) -> None:
    def mode(name: str) -> int:
        return stat.S_IMODE((tmp_path / name).stat().st_mode)

    old = os.umask(0o027)
    try:
        shoal.run(job.model_copy(update={"key": tmp_path / "key.csv"}))
        assert (mode("out.csv"), mode("public.json")) == (0o640, 0o640)
        assert (mode("certificate.json"), mode("key.csv")) == (0o600, 0o600)
        (tmp_path / "out.csv").chmod(0o600)  # somebody has decided that nobody else may read it
        (tmp_path / "public.json").chmod(0o666)
        shoal.run(job.model_copy(update={"public_certificate": None}))
        assert mode("out.csv") == 0o600
        assert mode("certificate.json") == 0o600
    finally:
        os.umask(old)


def test_the_engines_write_public_certificates_alike(job: shoal.Job, tmp_path: Path) -> None:
    private, public_key = keys(tmp_path)
    told = []
    for engine in ("local", "stream"):
        plain = job.model_copy(
            update={"engine": engine, "algorithm": "shoal", "effort": "low", "sign": private, "models": ()}
        )
        holder, public = certificates(plain)
        assert isinstance(job.output, Path)
        assert verify_certified(job.output, public, signer=public_key)["passed"]
        assert proves(public, holder)
        told.append({name: value for name, value in public.items() if name not in ("self_hash", "signature")})
        told[-1]["hashes"] = {"release": public["hashes"]["release"]}
        told[-1]["job"] = {
            name: value for name, value in public["job"].items() if name not in ("missing", "hierarchies")
        }
    assert told[0] == told[1]


@pytest.mark.parametrize("dropped", [False, True])
def test_a_named_value_that_is_not_released_cannot_be_guessed(job: shoal.Job, dropped: bool) -> None:
    roles = {"sensitive": (), "identifiers": ("disease",)} if dropped else {}
    private, public = certificates(job.model_copy(update={"models": ("alpha-k:disease=a:0.6",), **roles}))
    digest = value_digest("disease", "a")
    assert digest in json.dumps(private)
    assert (digest in json.dumps(public)) is not dropped  # in a released column everybody sees the value anyway
    assert public["models"] == [check["model"] for check in public["checks"]]
    assert public["job"]["models"] == public["models"]
    assert proves(public, private)
