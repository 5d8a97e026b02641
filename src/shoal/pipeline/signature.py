"""Signatures of certificates: Ed25519, by the package `cryptography`.

What is signed is the certificate's own hash, so everything that it says. A key is made with
`openssl genpkey -algorithm ed25519 -out private.pem`, its public half with
`openssl pkey -in private.pem -pubout -out public.pem`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, Problem
from shoal.tables.formats.extras import need

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KIND = "Ed25519"
NO_SIGNATURE = (
    "The certificate's own hash shows a change by accident. Who changes it on purpose computes it anew: only a "
    "signature (--sign, --signer) shows that, or a certificate from another way to the holder."
)
_UNKNOWN_SIGNER = "The signature is valid, but nobody said whose it should be: name the public key with --signer."
_MAKE_ONE = "openssl genpkey -algorithm ed25519 -out private.pem"


def sign(self_hash: str, key: Path) -> dict[str, str]:
    """The signature of a certificate with this hash, and the public half of the key."""
    private = load_key(key)
    public = private.public_key().public_bytes_raw().hex()
    return {"kind": KIND, "public_key": public, "value": private.sign(_message(self_hash)).hex()}


def key_problems(path: Path | None) -> list[Problem]:
    """What is wrong with a key, before any work."""
    try:
        if path is not None:
            load_key(path)
    except InputError as error:
        return list(error.problems)
    return []


def load_key(path: Path) -> Ed25519PrivateKey:
    """A private key from a PEM file, or what is wrong with it."""
    need("sign", "cryptography", what="to sign a certificate")
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        found = load_pem_private_key(_bytes_of(path), password=None)
    except TypeError:
        message = f"the key '{path}' has a password, which cannot be asked for here"
        raise InputError(Problem("bad-key-file", message, hint="give a key without one")) from None
    except ValueError:
        found = None
    if not isinstance(found, Ed25519PrivateKey):
        raise InputError(Problem("bad-key-file", f"'{path}' is no private Ed25519 key in PEM", hint=_MAKE_ONE))
    return found


def read_signer(path: Path) -> str:
    """A public key from a PEM file, as certificates write it."""
    need("sign", "cryptography", what="to check a signature")
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        found = load_pem_public_key(_bytes_of(path))
    except ValueError:
        found = None
    if not isinstance(found, Ed25519PublicKey):
        hint = "openssl pkey -in private.pem -pubout -out public.pem"
        raise InputError(Problem("bad-key-file", f"'{path}' is no public Ed25519 key in PEM", hint=hint))
    return found.public_bytes_raw().hex()


def check_signature(certificate: Mapping[str, Any], signer: str | None) -> tuple[bool, str]:
    """Whether a certificate is signed as it should be, and what is to be told about it.

    Without a `signer` any valid signature, or none, will do.
    """
    told = certificate.get("signature")
    if told is None:
        return (True, NO_SIGNATURE) if signer is None else (False, "The certificate is not signed.")
    need("sign", "cryptography", what="to check the signature of this certificate")
    if not _is_valid(told, str(certificate.get("self_hash", ""))):
        return False, "The signature does NOT belong to this certificate: one of them was changed."
    if signer is not None and told["public_key"] != signer:
        return False, "The certificate is signed with ANOTHER key than the one that was named."
    return True, _UNKNOWN_SIGNER if signer is None else "The signature is that of the named key."


def _is_valid(told: Any, self_hash: str) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        if told["kind"] != KIND:
            return False
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(told["public_key"]))
        public.verify(bytes.fromhex(told["value"]), _message(self_hash))
    except (InvalidSignature, ValueError, TypeError, KeyError):
        return False
    return True


def _message(self_hash: str) -> bytes:
    return b"certificate of shoal, format 1: " + self_hash.encode()


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(Problem("bad-key-file", f"the key '{path}' cannot be read: {reason}")) from None
