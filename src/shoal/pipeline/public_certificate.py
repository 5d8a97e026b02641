"""The part of a certificate that may be published.

Whoever holds a guess of a small table could hash it and compare. So in the public version the hash of the input and the
digests of what holds values (those that a job names, hierarchies) are keyed (HMAC-SHA256) with a random salt, which
stays in the holder's certificate: they tell nobody anything, and the holder can prove later, by showing the salt, which
table it was. A value that a model names is told by a plain digest where its column is released: whoever has the release
sees it there, and can check the model again; where the column is dropped, the digest is keyed too.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Collection, Mapping
from typing import Any

from shoal.job.job import Job
from shoal.models.forms import DIGEST_MARK
from shoal.models.registry import parse_model
from shoal.pipeline.certificate import certificate_text, for_whom, job_hash, sealed

PUBLIC = (
    "this certificate may be published: the hash of the input and the digests of values that are not released are "
    "keyed with a salt that its holder keeps"
)
_HOLDERS = ("private", "publish", "self_hash", "signature")


def certificate_texts(job: Job, certificate: Mapping[str, Any], wanted: Collection[str]) -> dict[str, str]:
    """The certificates that are wanted, as the texts of their files."""
    texts = {}
    if "certificate" in wanted:
        texts["certificate"] = certificate_text(dict(certificate))
    if "public_certificate" in wanted:
        texts["public_certificate"] = certificate_text(sealed(public_part(certificate), job.sign))
    return texts


def with_salt(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """The holder's certificate with a salt, of one that was written without: a public one can be made from it."""
    said = {name: value for name, value in certificate.items() if name not in _HOLDERS}
    return sealed({**said, **for_whom(True)})


def public_part(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """What of a holder's certificate may be published."""
    salt = bytes.fromhex(certificate["private"]["salt"])
    shown = {name: value for name, value in certificate.items() if name not in _HOLDERS}
    dropped = {*certificate["job"].get("identifiers", ()), certificate["job"].get("person")}
    models = {spec: _keyed_model(spec, dropped, salt) for spec in certificate["models"]}
    job = {name: _keyed(value, salt) for name, value in certificate["job"].items()}
    if "models" in job:
        job["models"] = [models.get(spec, spec) for spec in job["models"]]
    hashes = {
        "release": certificate["hashes"]["release"],
        "input_keyed": keyed(certificate["hashes"]["input"], salt),
        "job": job_hash(job),
    }
    trees = {name: _keyed(tree, salt) for name, tree in certificate.get("hierarchies", {}).items()}
    told = {"models": list(models.values()), "job": job, "hierarchies": trees, "hashes": hashes, "publish": PUBLIC}
    if "checks" in shown:
        told["checks"] = [{**check, "model": models.get(check["model"], check["model"])} for check in shown["checks"]]
    return {**shown, **told}


def proves(public: Mapping[str, Any], certificate: Mapping[str, Any]) -> bool:
    """Whether a public certificate was made from this one of the holder: shown together they prove the input."""
    if "salt" not in certificate.get("private", {}):
        return False
    expected = public_part(certificate)
    return job_hash(expected) == job_hash({name: public[name] for name in public if name not in _HOLDERS[2:]})


def keyed(digest: str, salt: bytes) -> str:
    return hmac.new(salt, digest.encode(), hashlib.sha256).hexdigest()


def _keyed_model(spec: str, dropped: Collection[str | None], salt: bytes) -> str:
    """A model whose column is not released, with the digest of the value that it names keyed."""
    if DIGEST_MARK not in spec or not set(parse_model(spec).columns()) & set(dropped):
        return spec
    plain = re.compile(re.escape(DIGEST_MARK) + "([0-9a-f]{16})")
    return plain.sub(lambda found: DIGEST_MARK + keyed(found[1], salt)[:16], spec)


def _keyed(value: Any, salt: bytes) -> Any:
    """A setting with every digest in it keyed."""
    if not isinstance(value, Mapping):
        return value
    return {
        "keyed" if name == "sha256" else name: keyed(one, salt) if name == "sha256" else _keyed(one, salt)
        for name, one in value.items()
    }
