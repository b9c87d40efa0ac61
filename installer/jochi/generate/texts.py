"""What the generated team writes about: sentences with slots, by kind and by role."""

from __future__ import annotations

AGENTS = ("kublai", "mongke", "chagatai", "temujin", "jochi", "ogedei")
"""The six agents of seed 000."""

ROLES = {
    "kublai": "coordination",
    "mongke": "research",
    "chagatai": "writing",
    "temujin": "development",
    "jochi": "analysis",
    "ogedei": "operations",
}

SLOTS: dict[str, tuple[str, ...]] = {
    "part": (
        "checkout",
        "search",
        "billing",
        "the mobile app",
        "single sign-on",
        "the export job",
        "the public API",
        "notifications",
        "the onboarding tour",
        "the admin console",
        "image uploads",
        "the report builder",
    ),
    "metric": ("p95 latency", "error rate", "conversion", "queue depth", "memory use", "weekly active users", "churn"),
    "cause": (
        "a missing index",
        "a retry without a limit",
        "the new cache headers",
        "a slow third-party call",
        "an expired certificate",
        "the last schema change",
        "a time zone mix-up",
        "a race between two workers",
    ),
    "action": (
        "roll out behind a flag",
        "add a contract test",
        "move the work to a queue",
        "write a runbook page",
        "raise the pool size",
        "split the table by month",
        "ask two customers for an interview",
        "pin the dependency",
    ),
    "customer": ("Alder Books", "Birch Clinic", "Cedar Freight", "Dune Travel", "Elm Foods", "Fjord Energy"),
    "agent": AGENTS,
    "version": ("4.11", "4.12", "4.12.1", "4.13", "5.0-beta"),
    "number": ("3", "5", "8", "12", "17", "24", "40", "65", "110", "230"),
    "percent": ("2", "4", "7", "11", "15", "22", "31", "38"),
}

ENTRIES: dict[str, tuple[str, ...]] = {
    "coordination": (
        "Moved the {part} work ahead of {version}; {agent} takes the review.",
        "{customer} asks for a date for {part}. Promised an answer after the next planning.",
        "Stand-up: {number} open tickets on {part}, {agent} is blocked by {cause}.",
        "Agreed with {agent} to {action} before {version} goes out.",
    ),
    "research": (
        "Read {number} support threads about {part}; most of them come down to {cause}.",
        "Compared {part} with two competitors: we lose about {percent} % at the second step.",
        "{customer} uses {part} every day and exports the result by hand.",
        "Three studies agree that {metric} falls when {part} asks for an account first.",
    ),
    "writing": (
        "Drafted the release note of {version}: {part} first, then the fix for {cause}.",
        "The guide to {part} still shows the old screens; {number} pictures to replace.",
        "{agent} found two wrong defaults in the reference of {part}.",
        "Shortened the answer about {part}; support sends it {number} times a week.",
    ),
    "development": (
        "Fixed {cause} in {part}; {metric} is back to normal on staging.",
        "The test for {part} fails one run in {number}. Suspect {cause}.",
        "Merged the change that lets us {action}; {version} carries it.",
        "Profiled {part}: {percent} % of the time goes into {cause}.",
    ),
    "analysis": (
        "{metric} of {part} moved by {percent} % since {version}.",
        "The dip in {metric} on Tuesday matches {cause}, not the campaign.",
        "{customer} alone makes {percent} % of the calls to {part}.",
        "Checked {number} days of {part}: no weekly pattern in {metric}.",
    ),
    "operations": (
        "Deployed {version} to a tenth of the hosts; {metric} looks steady.",
        "Paged at night for {part}: {cause}. Quiet after a restart.",
        "Backup of {part} restored in {number} minutes on the spare host.",
        "Rotated the keys of {part}; {agent} confirmed the clients came back.",
    ),
}

TEXTS: dict[str, tuple[str, ...]] = {
    "Belief": (
        "{customer} values a stable {part} more than new features.",
        "{cause} is behind most incidents of {part}.",
        "To {action} pays off before every larger release.",
        "{metric} of {part} follows the load of {customer}.",
        "Users of {part} rarely read more than the first paragraph of the guide.",
    ),
    "Reflection": (
        "We found {cause} late because nobody watched {metric} of {part}. Next time: watch it from the first day.",
        "Reviewing in pairs with {agent} cut the rework on {part} to {percent} %.",
        "The plan for {version} was too full; {number} items moved on.",
        "To {action} first would have saved two days on {part}.",
    ),
    "Analysis": (
        "{metric} of {part} over {number} days: up {percent} %, explained by {cause}.",
        "Incident on {part}: {cause}; {number} customers affected, {customer} among them.",
        "Cost of {part}: {percent} % above plan, mostly {cause}.",
        "Funnel of {part}: the loss at step two shrank by {percent} % with {version}.",
    ),
    "Synthesis": (
        "Across {number} analyses one thing recurs: {cause} hurts {part} first and {metric} a day later.",
        "What we know of {customer}: heavy use of {part}, little patience with {metric}, open to {version}.",
        "{part} and {version} together: the gain in {metric} stays once we {action}.",
    ),
    "Recommendation": (
        "For {part}: {action}, then measure {metric} for a week.",
        "Before {version}: {action}; {agent} has the numbers.",
        "Tell {customer} about {cause} ourselves, before they find it.",
    ),
    "Task": (
        "{part}: {action}.",
        "Find out whether {cause} explains {metric} of {part}.",
        "Prepare the call with {customer} about {part}.",
        "Remove {cause} from {part} before {version}.",
        "Update the guide to {part} for {version}.",
    ),
    "Notification": (
        "{agent} mentioned you in the review of {part}.",
        "Build of {version} finished with {number} warnings.",
        "{metric} of {part} crossed its threshold ({percent} %).",
        "{customer} answered the ticket about {part}.",
        "Task about {part} was handed to {agent}.",
    ),
}

SUMMARIES = {
    "full": "{texts}",
    "summary": "{agent} on {part}: {count} notes; the main one: {first}",
    "keywords": "{agent}, {part}, {metric}, {version}",
}
