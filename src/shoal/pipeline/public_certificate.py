"""The part of a certificate that may be published.

Whoever holds a guess of a small table could hash it and compare. So in the public version the hash of the input and the
digests of what holds values (those that a job names, hierarchies) are keyed (HMAC-SHA256) with a random salt, which
stays in the holder's certificate: they tell nobody anything, and the holder can prove later, by showing the salt, which
table it was.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection, Mapping
from typing import Any

from shoal.job.job import Job
from shoal.pipeline.certificate import certificate_text, for_whom, job_hash, sealed

PUBLIC = (
    "this certificate may be published: the hash of the input and the digests of named values are keyed with a salt "
    "that its holder keeps"
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
    job = {name: _keyed(value, salt) for name, value in certificate["job"].items()}
    hashes = {
        "release": certificate["hashes"]["release"],
        "input_keyed": keyed(certificate["hashes"]["input"], salt),
        "job": job_hash(job),
    }
    trees = {name: _keyed(tree, salt) for name, tree in certificate.get("hierarchies", {}).items()}
    return {**shown, "job": job, "hierarchies": trees, "hashes": hashes, "publish": PUBLIC}


def proves(public: Mapping[str, Any], certificate: Mapping[str, Any]) -> bool:
    """Whether a public certificate was made from this one of the holder: shown together they prove the input."""
    if "salt" not in certificate.get("private", {}):
        return False
    expected = public_part(certificate)
    return job_hash(expected) == job_hash({name: public[name] for name in public if name not in _HOLDERS[2:]})


def keyed(digest: str, salt: bytes) -> str:
    return hmac.new(salt, digest.encode(), hashlib.sha256).hexdigest()


def _keyed(value: Any, salt: bytes) -> Any:
    """A setting with every digest in it keyed."""
    if not isinstance(value, Mapping):
        return value
    return {
        "keyed" if name == "sha256" else name: keyed(one, salt) if name == "sha256" else _keyed(one, salt)
        for name, one in value.items()
    }
