import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decideRetry, type Retry } from './decide-retry.ts'

const SAID: readonly (readonly [reason: string, where: Retry])[] = [
  [`EACCES: permission denied, open '/srv/x'`, 'host'],
  ['/var/lib/svc-agent/out/site.crt exists and was not made by the agent', 'host'],
  ['write /etc/motd: no space left on device', 'host'],
  ['the name cannot be a file name: "../x"', 'host'],
  ['hook post-csr-cert: exit 1: nginx: [emerg] host not found', 'host'],
  ['/etc/age.key does not open the file: no identity matched any of the recipients', 'seal'],
  ['open: the file is sealed for another recipient', 'seal'],
  ['sans_forbidden: policy web forbids shop.example.org', 'rule'],
  ['the hub answered 403 csr_san_forbidden', 'rule'],
  ['ca_failed: the CA did not answer within 10 s', 'passing'],
  ['something else', 'unknown'],
]

test('what an agent says tells where the cause is', () => {
  for (const [reason, where] of SAID) assert.equal(decideRetry(reason), where, reason)
})
