"""What several protocols share: errors, message parts, answers, text completions."""
