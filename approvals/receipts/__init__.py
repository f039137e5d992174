"""One file that proves plan -> hash -> votes -> run -> result -> audit head, without Sayso's help."""

from approvals.receipts.checking import check
from approvals.receipts.document import MADE, Issued, Receipt
from approvals.receipts.drafting import Draft, Story, concerns, draft, noted

__all__ = ["MADE", "Draft", "Issued", "Receipt", "Story", "check", "concerns", "draft", "noted"]
