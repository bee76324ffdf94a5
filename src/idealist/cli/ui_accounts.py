"""`idealist ui add-user` and `remove-user`: the accounts of those who share a workbench."""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

import click

from idealist import files
from idealist.errors import UsageError, nearest

if TYPE_CHECKING:
    from idealist.web.accounts import Account

accounts_file = click.argument("file", type=click.Path(path_type=Path, dir_okay=False))


@click.command("add-user")
@accounts_file
@click.argument("name")
@click.option(
    "--role", type=click.Choice(["judge", "editor", "reader"]),
    help="judge: judges, and sees nothing else. reader: sees everything, and changes nothing."
    " editor: does everything.",
)  # fmt: skip
@click.option("--replace", is_flag=True, help="Give an account that exists a new password.")
@click.option("--keep-password", is_flag=True, help="Change only the role of an account.")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
def add_user(
    file: Path, name: str, role: str | None, replace: bool, keep_password: bool,
    password_stdin: bool,
) -> None:  # fmt: skip
    """Make an account in FILE for NAME; the password is asked for twice.

    FILE holds a hash of the password, from which it cannot be read, and only you can read the file.
    A server that uses it notices at once: people with a new password must sign in again.

    \b
    Examples:
      idealist ui add-user users.toml ann --role judge
      idealist ui add-user users.toml ann --replace
      idealist ui add-user users.toml ann --role editor --keep-password
      pass show eval/bob | idealist ui add-user users.toml bob --role reader --password-stdin
    """
    from idealist.web.accounts import NAME_HINT, Account, Hashed, change_accounts, is_name

    name = unicodedata.normalize("NFC", name)
    if not is_name(name):
        raise UsageError(f"{name!r} cannot be the name of an account", NAME_HINT)
    if keep_password and (replace or password_stdin or role is None):
        hint = "give --role ROLE --keep-password, and nothing else"
        raise UsageError("--keep-password changes the role, and nothing else", hint)
    known = _known(file).get(name)
    _check_known(name, known, role, replace, keep_password)
    files.check_folder(file)
    fresh = (
        known.password if known and keep_password else Hashed.of(_password(name, password_stdin))
    )

    def change(accounts: dict[str, Account]) -> None:
        own = accounts.get(name)
        kept = own.password if own and keep_password else fresh
        accounts[name] = Account(name, role or (own.role if own else "reader"), kept)

    change_accounts(file, change)
    click.echo(f"{name} can sign in as {_known(file)[name].role}; the account is in {file}")


@click.command("remove-user")
@accounts_file
@click.argument("name")
def remove_user(file: Path, name: str) -> None:
    """Remove the account of NAME from FILE; a server that uses it lets NAME do nothing more.

    What NAME judged stays in the store.

    \b
    Example:
      idealist ui remove-user users.toml ann
    """
    from idealist.web.accounts import change_accounts, read_accounts

    name = unicodedata.normalize("NFC", name)

    def change(accounts: dict[str, Account]) -> None:
        if name not in accounts:
            hint = nearest(name, accounts) if accounts else "there are none"
            raise UsageError(f"{file} has no account {name!r}", hint)
        del accounts[name]

    read_accounts(file)  # a file that is not there is a mistake
    change_accounts(file, change)
    click.echo(f"{name} no longer has an account in {file}")


def _known(file: Path) -> dict[str, Account]:
    from idealist.web.accounts import read_accounts

    return read_accounts(file) if file.exists() else {}


def _check_known(
    name: str, known: Account | None, role: str | None, replace: bool, keep: bool
) -> None:
    """Refuse to replace what nobody asked to replace, before a password is asked for."""
    if known is None and (replace or keep):
        raise UsageError(f"there is no account {name!r} to change", "leave out --replace")
    if known is None and role is None:
        raise UsageError(f"which role should {name} have?", "give --role judge, editor or reader")
    if known is not None and not (replace or keep):
        hint = "--replace gives it a new password, --keep-password only a new --role"
        raise UsageError(f"{name} has an account already, as {known.role}", hint)


def _password(name: str, from_stdin: bool) -> str:
    """Ask for a password twice, or read the first line of standard input."""
    from idealist.web.accounts import SHORTEST, check_password

    if from_stdin:
        try:
            found = sys.stdin.buffer.readline().decode().rstrip("\r\n")
        except UnicodeDecodeError:
            raise UsageError("the password is not UTF-8 text", "write it as UTF-8") from None
    elif _is_terminal():
        found = click.prompt(
            f"Password of {name}, at least {SHORTEST} characters", hide_input=True, err=True,
            confirmation_prompt="Again",
        )  # fmt: skip
    else:
        hint = "give --password-stdin, and the password in the first line"
        raise UsageError("there is no terminal to ask for a password", hint)
    check_password(found, name)
    return found


def _is_terminal() -> bool:
    return sys.stdin.isatty()
