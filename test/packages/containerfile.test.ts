// deploy/Containerfile as text; containers.test.ts builds it.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ROOT } from '../../tools/source-files.ts'
import { findContainerfileFaults, hasHealthCheck } from './support/containerfile.ts'

const PATH = join(ROOT, 'deploy/Containerfile')
const IMAGES = ['hub', 'agent']

describe('the Containerfile', () => {
  test('has two images that run without root, on a pinned base, without a secret', async () => {
    assert.deepEqual(findContainerfileFaults(await readFile(PATH, 'utf8'), IMAGES), [])
  })

  test('has a health check for the hub', async () => {
    assert.ok(hasHealthCheck(await readFile(PATH, 'utf8'), 'hub'))
  })
})

describe('what is found in a Containerfile', () => {
  const faulty: readonly (readonly [string, string, readonly string[]])[] = [
    ['a base without a tag', 'FROM debian AS a\nUSER 1', ['a: debian is not pinned by a tag']],
    [
      'a moving tag',
      'FROM debian:latest AS a\nUSER 1',
      ['a: debian:latest is not pinned by a tag'],
    ],
    ['no user', 'FROM debian:12 AS a\nRUN true', ['a: runs as root']],
    ['a last user of root', 'FROM debian:12 AS a\nUSER 1\nUSER root:root', ['a: runs as root']],
    ['an ADD from a URL', 'FROM debian:12 AS a\nADD https://x/y /\nUSER 1', ['a: adds from a URL']],
    [
      'a secret in the environment, on a line that goes on',
      'FROM debian:12 AS a\nENV A=1 \\\n  SVC_MASTER_PASSPHRASE=x\nUSER 1',
      ['a: SVC_MASTER_PASSPHRASE would be kept in a layer'],
    ],
    [
      'a secret argument',
      'FROM debian:12 AS a\nARG TOKEN\nUSER 1',
      ['a: TOKEN would be kept in a layer'],
    ],
    ['a missing image', 'FROM debian:12 AS b', ['there is no stage a']],
  ]
  for (const [what, text, faults] of faulty) {
    test(what, () => assert.deepEqual(findContainerfileFaults(text, ['a']), faults))
  }

  test('the path of a secret is none', () => {
    const text = 'FROM debian:12 AS a\nENV SVC_ENROLL_TOKEN_FILE=/run/secrets/token\nUSER 1'
    assert.deepEqual(findContainerfileFaults(text, ['a']), [])
  })
})
