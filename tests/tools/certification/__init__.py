"""`rampsim certify`: the reference receiver, wrong ones, the vectors, the command."""
