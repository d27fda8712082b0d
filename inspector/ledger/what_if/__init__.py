"""The same turns under other prices, cache strategies and prompts: what the run would have cost."""

from .bills import Bill, bill
from .change import Change
from .comparison import Comparison, Scenario, compare_bills
from .recorded import RecordedRun, recorded_run

__all__ = ["Bill", "Change", "Comparison", "RecordedRun", "Scenario", "bill", "compare_bills", "recorded_run"]
