import assert from 'node:assert/strict'
import { test } from 'node:test'
import { architectureOf } from './program-architecture.ts'

test('[UPD-22] the architecture of a program is in its header', () => {
  const headerOf = (machine: number): Buffer => {
    const header = Buffer.alloc(64)
    header.write('\u007fELF\u0002\u0001\u0001', 'latin1')
    header.writeUInt16LE(machine, 18)
    return header
  }
  assert.equal(architectureOf(headerOf(62)), 'x64')
  assert.equal(architectureOf(headerOf(183)), 'arm64')
  assert.equal(architectureOf(headerOf(243)), 'another architecture (ELF machine 243)')
  for (const other of ['', '#!/bin/sh\n# any script at all\n', '\u007fELF', '\u007fELFshort']) {
    assert.equal(architectureOf(Buffer.from(other, 'latin1')), undefined)
  }
})
