"""The contract that algorithms must keep, and small tables to try them on."""

from shoal.testing.contract import CHECKS, ContractTable, check_algorithm, contract_tables

__all__ = ["CHECKS", "ContractTable", "check_algorithm", "contract_tables"]
