"""`rampsim certify`: tests a webhook receiver rule by rule, with genuine and forged requests."""
