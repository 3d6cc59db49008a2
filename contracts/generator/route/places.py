"""Where the tour sends money: addresses and a phone number that pass every check."""

from __future__ import annotations

STELLAR = "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
CELO = "0x52908400098527886E0F7030069857D2E4169EE7"
PHONE = "+254722000000"
