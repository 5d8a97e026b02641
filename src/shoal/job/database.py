"""What a job asks of a database: the query that it names, and about how much there is to read."""

from __future__ import annotations

from shoal.errors import InputError, Problem
from shoal.job.job import Job
from shoal.tables.formats.sql.address import SqlAddress


def with_query_of(job: Job, address: SqlAddress) -> SqlAddress:
    """The address with the query that the job names, if it names one."""
    if job.query is None:
        return address
    try:
        return address.with_query(job.query.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise InputError(Problem("no-such-file", f"the query '{job.query}' cannot be read")) from None


def bytes_to_read(job: Job, address: SqlAddress) -> int:
    """About how many bytes the rows have in the database; 0 if it cannot be asked, which whoever reads them tells."""
    from shoal.tables.formats.sql.tables import open_relation

    try:
        with open_relation(with_query_of(job, address)) as (store, relation):
            return store.bytes(relation)
    except InputError:
        return 0
