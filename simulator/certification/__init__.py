"""`rampsim certify`: a webhook receiver examined by requests of the service and by forgeries, rule by rule.

`rules` has the table of what is examined; `signing` makes the requests that are also the vectors of the contract,
`events`, `delivering` and `outage` play the rest, `booking` judges the books. `stage` is the simulator behind it,
`receiver` a receiver that does everything right.
"""
