"""What enemies try: web pages in a real Chromium, clients of other users, and recordings that were made to do harm."""
