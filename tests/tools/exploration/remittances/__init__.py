"""A second sample application, built like most: a queue in a database, two workers, a nightly job, two legs.

A customer in Kenya pays shillings, which arrive as USDC in the company's wallet (first leg, an onramp). The company
then pays the recipient from that wallet (second leg, an offramp). `planted` has twenty subtle bugs.
"""
