"""Accounts: a file of names, roles and hashes of passwords, read again whenever it changes."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
import stat
import threading
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from idealist import files
from idealist.errors import Faults, IdealistError, UsageError
from idealist.web.people import ROLES, Person

#: What a file of accounts looks like, and how one is made.
EXAMPLE = '[ann] and below it role = "judge" and password = "scrypt$…"'
MAKE = "idealist ui add-user FILE NAME --role judge"
#: How long names and passwords may be.
LONGEST_NAME, SHORTEST, LONGEST = 64, 10, 1024
#: Categories of signs that no name has: they cannot be seen, or are none.
UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
#: The most memory that a hash of a file may ask for, in bytes.
MEMORY = 2**28


class Strength(NamedTuple):
    """What scrypt is told: it takes 128·n·r bytes, p times.

    Reference: OWASP, Password Storage Cheat Sheet, which counts n=2¹⁵, r=8, p=3 as strong.
    """

    n: int = 2**15
    r: int = 8
    p: int = 3

    @property
    def is_sound(self) -> bool:
        """Whether it is strong enough, and no more than this machine can bear."""
        power = self.n & (self.n - 1) == 0 and self.n >= 2**14
        return power and self.r >= 8 and 1 <= self.p <= 16 and 128 * self.n * self.r < MEMORY


@dataclass(frozen=True)
class Hashed:
    """A password that cannot be read from what is kept of it.

    >>> kept = str(Hashed.of("correct horse", Strength(2**14, 8, 1)))
    >>> Hashed.read(kept).fits("correct horse"), Hashed.read(kept).fits("wrong horse")
    (True, False)
    """

    strength: Strength
    salt: bytes
    digest: bytes

    @classmethod
    def of(cls, password: str, strength: Strength | None = None) -> Hashed:
        """Hash a password, with a salt of its own."""
        strength = strength or Strength()
        salt = secrets.token_bytes(16)
        return cls(strength, salt, _digest(password, salt, strength))

    @classmethod
    def read(cls, text: str) -> Hashed:
        """Read what `str` wrote; ValueError where it is something else."""
        kind, n, r, p, salt, digest = text.split("$")
        strength = Strength(*map(_whole, (n, r, p)))
        found = cls(strength, *(base64.b64decode(one, validate=True) for one in (salt, digest)))
        if kind != "scrypt" or not strength.is_sound:
            raise ValueError(text)
        if len(found.salt) < 16 or len(found.digest) != 32:
            raise ValueError(text)
        return found

    def __str__(self) -> str:
        salt, digest = (base64.b64encode(one).decode() for one in (self.salt, self.digest))
        return "$".join(["scrypt", *map(str, self.strength), salt, digest])

    def fits(self, password: str) -> bool:
        """Whether this is the password, in a time that tells nothing."""
        return hmac.compare_digest(_digest(password, self.salt, self.strength), self.digest)


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 9):
        raise ValueError(text)
    return int(text)


def _digest(password: str, salt: bytes, strength: Strength) -> bytes:
    """Run scrypt; a letter with an accent is the same however it was typed.

    NUL is taken for another sign: scrypt does not tell a password from one that ends with it.
    """
    text = unicodedata.normalize("NFC", password).replace("\0", "\ufffd")
    given = text.encode(errors="replace")
    n, r, p = strength
    return hashlib.scrypt(given, salt=salt, n=n, r=r, p=p, maxmem=2 * MEMORY, dklen=32)


@dataclass(frozen=True)
class Account:
    """Somebody who may sign in."""

    name: str
    role: str
    password: Hashed

    @property
    def person(self) -> Person:
        """Who it is; `account` changes with the password, and ends the sessions it began."""
        mark = hashlib.sha256(str(self.password).encode()).hexdigest()
        return Person(self.name, self.role, account=mark)


class Accounts:
    """The accounts of a file. A change of the file counts from the next request on."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._stamp: tuple[int, ...] | None = None
        self._known: Mapping[str, Account] = {}
        self._fault: IdealistError | None = None
        #: What the password of an unknown name is compared with, so that it takes as long.
        self._nobody = Hashed(Strength(), secrets.token_bytes(16), secrets.token_bytes(32))
        if not self.known():
            raise UsageError(f"there are no accounts in {self.path}", f"make one: {MAKE}")

    def known(self) -> Mapping[str, Account]:
        """Return the accounts by name; a file that cannot be read lets nobody in."""
        with self._lock:
            stamp = _stamp(self.path)
            if stamp != self._stamp or stamp is None:
                self._stamp, self._fault = stamp, None
                try:
                    self._known = read_accounts(self.path)
                except IdealistError as error:
                    self._fault = error
            if self._fault is not None:
                raise self._fault
            return self._known

    def still(self, person: Person) -> Person | None:
        """Find who somebody is now; None where the account is gone or has a new password."""
        account = self.known().get(person.name)
        if account is None or account.person.account != person.account:
            return None
        return account.person

    def signed_in(self, name: str, password: str) -> Person | None:
        """Find whose name and password these are; whether the name is known takes no less time."""
        account = self.known().get(unicodedata.normalize("NFC", name))
        kept = account.password if account else self._stand_in()
        fits = kept.fits(password)
        return account.person if account and fits else None

    def _stand_in(self) -> Hashed:
        """Return what costs as much as the password of an account, and is nobody's."""
        usual = next(iter(self.known().values()), None)
        strength = usual.password.strength if usual else self._nobody.strength
        return Hashed(strength, self._nobody.salt, self._nobody.digest)

    def doubts(self) -> list[str]:
        """Say what is unwise about the file."""
        found = []
        if os.name == "posix" and self.path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            found.append(f"doubt: others on this machine can read {self.path}: chmod 600 it")
        if not any(one.role == "editor" for one in self.known().values()):
            found.append("doubt: no account is an editor, who can correct files and adjudicate")
        return found


def _stamp(path: Path) -> tuple[int, ...] | None:
    """Return what changes when a file does."""
    try:
        told = path.stat()
    except OSError:
        return None
    return told.st_mtime_ns, told.st_ctime_ns, told.st_size, told.st_ino


def read_accounts(path: Path) -> dict[str, Account]:
    """Read accounts from TOML: a table for each name, with `role` and `password`."""
    faults = Faults(str(path))
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        faults.fail("no-file", f"cannot open the accounts: {error.strerror}", f"make one: {MAKE}")
    except (ValueError, RecursionError) as error:  # of TOML, and of what is not UTF-8
        faults.fail("bad-shape", f"the accounts are not TOML: {error}", f"write {EXAMPLE}")
    found: dict[str, Account] = {}
    for key, said in given.items():
        name = unicodedata.normalize("NFC", key)
        if name in found:
            faults.add("duplicate-key", f"there are two accounts {name!r}", "remove one of them")
        elif (account := _account(faults, name, said)) is not None:
            found[name] = account
    faults.check()
    return found


def _account(faults: Faults, name: str, said: Any) -> Account | None:
    """Read one account, or note what is wrong with it; what its password is stays unsaid."""
    if not is_name(name):
        faults.add("bad-shape", f"{name!r} cannot be the name of an account", NAME_HINT)
    elif not isinstance(said, dict):
        faults.add("bad-shape", f"{name!r} is not a table", f"write {EXAMPLE}")
    elif unknown := sorted(said.keys() - {"role", "password"}):
        message = f"the account {name!r} has {unknown[0]!r}, which means nothing"
        faults.add("bad-shape", message, f"write {EXAMPLE}")
    elif not isinstance(said.get("role"), str) or said["role"] not in ROLES:
        message = f"the role of {name!r} is not one of {', '.join(ROLES)}"
        faults.add("bad-shape", message, f"write {EXAMPLE}")
    else:
        try:
            return Account(name, said["role"], Hashed.read(said["password"]))
        except (KeyError, ValueError, TypeError, AttributeError):
            message = f"the password of {name!r} is not a hash that idealist can check"
            hint = "give a new one: idealist ui add-user FILE NAME --replace"
            faults.add("bad-shape", message, hint)
    return None


NAME_HINT = f"use letters that can be seen, at most {LONGEST_NAME}, such as ann"


def is_name(text: str) -> bool:
    """Whether a text can be a name: one line, nothing invisible, no blanks around it."""
    return (
        0 < len(text) <= LONGEST_NAME
        and text == text.strip()
        and not any(unicodedata.category(sign) in UNSEEN for sign in text)
    )


def check_password(password: str, name: str) -> None:
    """Refuse a password that is easily guessed."""
    if len(password) < SHORTEST:
        hint = "use a few words that nobody would put together"
        raise UsageError(f"the password has fewer than {SHORTEST} characters", hint)
    if len(password) > LONGEST:
        raise UsageError(f"the password has more than {LONGEST} characters", "use a shorter one")
    if len(set(password)) < 4 or name.lower() == password.lower():
        raise UsageError("the password is too easy to guess", "use a few words that do not belong")


def change_accounts(path: Path, change: Callable[[dict[str, Account]], None]) -> None:
    """Change the accounts of a file, or of a new one, so that only its owner can read it.

    Commands that do so at the same time wait for each other, so that no account is lost.
    """
    files.check_folder(path)
    with _alone(path):
        accounts = read_accounts(path) if path.exists() else {}
        change(accounts)
        tables = []
        for one in accounts.values():
            bare = one.name.isascii() and one.name.replace("-", "").replace("_", "").isalnum()
            name = one.name if bare else json.dumps(one.name, ensure_ascii=False)
            tables.append(f'[{name}]\nrole = "{one.role}"\npassword = "{one.password}"\n')
        files.write(path, "\n".join(tables).encode(), private=True)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep others from changing a file meanwhile, where the system can do that."""
    try:
        from fcntl import LOCK_EX, flock
    except ImportError:  # Windows
        yield
        return
    folder = os.open(path.resolve().parent, os.O_RDONLY)
    try:
        flock(folder, LOCK_EX)
        yield
    finally:
        os.close(folder)
