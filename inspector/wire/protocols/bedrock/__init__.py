"""Amazon Bedrock: Converse, InvokeModel and agents."""
