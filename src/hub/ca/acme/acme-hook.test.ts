import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { CaError } from '../certificate-authority.ts'
import { type Challenge, createHook } from './acme-hook.ts'

const NEVER = new AbortController().signal
const DNS: Challenge = {
  type: 'dns-01',
  domain: 'a.example',
  token: 'token-1',
  keyAuthorization: 'token-1.thumbprint',
}

describe('[CAX-30] the hook of an ACME CA', () => {
  const directory = mkdtempSync(join(tmpdir(), 'acme-hook-'))
  after(() => rmSync(directory, { recursive: true }))
  const place = (name: string): string => join(directory, name)
  const hook = (name: string, script: string, timeoutMs?: number) => {
    writeFileSync(place(name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    return createHook(place(name), timeoutMs)
  }
  const failure = async (work: Promise<void>): Promise<CaError> => {
    const error: unknown = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    assert.ok(error instanceof CaError)
    assert.deepEqual([error.reason, error.variable], ['unreachable', 'SVC_ACME_HOOK'])
    return error
  }

  test('is told what to show, and nothing of the hub', async () => {
    process.env['SVC_MASTER_PASSPHRASE'] = 'nobody may see this'
    try {
      const run = hook('told', `echo "$@" > ${place('args')}; env > ${place('env')}`)
      await run('present', DNS, NEVER)
      assert.equal(readFileSync(place('args'), 'utf8'), 'present\n')
      const shown = readFileSync(place('env'), 'utf8').split('\n')
      assert.deepEqual(shown.filter((line) => line.startsWith('SVC_')).toSorted(), [
        'SVC_ACME_CONTENT=yjJT75802AFqe5Tt-lyMW5zDyUxyTrMz527ndccIfX4',
        'SVC_ACME_DOMAIN=a.example',
        'SVC_ACME_RECORD=_acme-challenge.a.example',
        'SVC_ACME_TYPE=dns-01',
      ])
      await run('cleanup', { ...DNS, type: 'http-01' }, NEVER)
      const other = readFileSync(place('env'), 'utf8')
      assert.match(other, /^SVC_ACME_TOKEN=token-1$/m)
      assert.match(other, /^SVC_ACME_CONTENT=token-1\.thumbprint$/m)
      assert.ok(!other.includes('nobody may see this'))
    } finally {
      delete process.env['SVC_MASTER_PASSPHRASE']
    }
  })

  test('says why it failed, in a bounded line that a terminal can show', async () => {
    const run = hook('fails', `printf '\\033[31mno\\nzone %0500d' 7 >&2; exit 3`)
    const { message } = await failure(run('present', DNS, NEVER))
    assert.match(message, /^the hook \(present a\.example\) ended with 3: /)
    assert.ok(message.length < 400)
    // oxlint-disable-next-line no-control-regex -- The test is that there are none.
    assert.doesNotMatch(message, /[\u0000-\u001F]/)
    assert.match(
      (await failure(createHook('/none')('present', DNS, NEVER))).message,
      /cannot be run/,
    )
  })

  test('is killed with all that it started when it takes too long, or the hub stops', async () => {
    const run = hook('slow', `sleep 60 & echo $! > ${place('child')}; wait`, 300)
    assert.match(
      (await failure(run('present', DNS, NEVER))).message,
      /was killed: it took too long/,
    )
    const pid = Number(readFileSync(place('child'), 'utf8'))
    // Gone, or a zombie that nobody has waited for yet.
    const status = (): string => {
      try {
        return readFileSync(`/proc/${pid}/status`, 'utf8')
      } catch {
        return 'State: gone'
      }
    }
    assert.match(status(), /State:\s*(?:gone|Z|X)/)
    const stop = new AbortController()
    const underWay = run('present', DNS, stop.signal)
    stop.abort(new Error('the hub stops'))
    await failure(underWay)
  })
})
