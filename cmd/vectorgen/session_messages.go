package main

import (
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
)

// The messages of each type, with values in whose bytes a shift or another order shows.

// bytesFrom is n bytes that ascend from one.
func bytesFrom(first byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = first + byte(i)
	}
	return b
}

func linkMessage() sessionoracle.Message {
	return sessionoracle.Message{
		Type: sessionoracle.TypeLink, Nonce: bytesFrom(0x10, 16), Protocol: 0x11223344, Mode: sessionoracle.AEAD, Lanes: 2, Variants: 1,
		Extensions: 0x0102, Timeout: 100, Format: bytesFrom(0xa0, 8), Identity: bytesFrom(0xb0, 8), Resume: 0x55667788,
	}
}

func challengeMessage() sessionoracle.Message {
	return sessionoracle.Message{Type: sessionoracle.TypeChallenge, Nonce: bytesFrom(0x10, 16), Stamp: 0x0102030405060708, Cookie: bytesFrom(0x30, 16)}
}

func proofMessage() sessionoracle.Message {
	m := linkMessage()
	m.Type, m.Stamp, m.Cookie, m.Proof = sessionoracle.TypeProof, 0x0102030405060708, bytesFrom(0x30, 16), bytesFrom(0x50, 16)
	return m
}

func linkedMessage() sessionoracle.Message {
	return sessionoracle.Message{
		Type: sessionoracle.TypeLinked, Nonce: bytesFrom(0x10, 16), Link: 0x55667788, ServerNonce: bytesFrom(0x70, 16), Lanes: 2, Variant: 1,
		Extensions: 0x0102, Timeout: 100, Proof: bytesFrom(0x50, 16),
	}
}

func refusedMessage() sessionoracle.Message {
	return sessionoracle.Message{Type: sessionoracle.TypeRefused, Nonce: bytesFrom(0x10, 16), Version: 1, Reason: sessionoracle.ReasonIdentity, Proof: bytesFrom(0x50, 16)}
}

// messages are one of each type, with the sentence that lays it out.
func messages() []struct {
	message  sessionoracle.Message
	sentence string
} {
	return []struct {
		message  sessionoracle.Message
		sentence string
	}{
		{linkMessage(), "CXH-3"}, {challengeMessage(), "CXH-4"}, {proofMessage(), "CXH-5"}, {linkedMessage(), "CXH-6"}, {refusedMessage(), "CXH-7"},
	}
}

// changed is a message with something else in it.
func changed(m sessionoracle.Message, change func(*sessionoracle.Message)) sessionoracle.Message {
	change(&m)
	return m
}
