"""What views say of a tape without round trips."""

NOTHING_RECORDED = (
    "nothing was recorded in this file: `turntape doctor -- COMMAND` says why, for the command of the agent"
)
