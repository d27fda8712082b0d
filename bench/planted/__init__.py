"""`make secrets`: kinds of credentials in every place of the traffic: is one of them on the disk afterwards?"""
