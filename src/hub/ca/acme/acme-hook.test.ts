import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { waitUntil } from '../../../../test/support/processes.ts'
import { SILENT_LOGGER } from '../../../platform/silent-logger.ts'
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
  const logs: unknown[][] = []
  const logger = { ...SILENT_LOGGER, warn: (...line: unknown[]) => void logs.push(line) }
  const hook = (name: string, script: string, timeoutMs?: number) => {
    writeFileSync(place(name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    return createHook(place(name), logger, timeoutMs)
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

  test('fails with its status alone; what it said is in the log, bounded, printable and without tokens', async () => {
    const token = `hvs.${'x'.repeat(30)}`
    const run = hook(
      'fails',
      `echo out; printf '\\033[31m${'y'.repeat(9000)} ${token}\\nno zone' >&2; exit 3`,
    )
    const { message } = await failure(run('present', DNS, NEVER))
    assert.equal(message, 'the hook (present a.example) ended with 3')
    const [[fields, what] = []] = logs.splice(0)
    assert.equal(what, 'The hook of the ACME CA failed')
    const { output, ...rest } = fields as { readonly output: string }
    assert.deepEqual(rest, { action: 'present', domain: 'a.example', status: 3 })
    assert.match(output, /^\[redacted\] no zone$/)
    await failure(hook('says-much', `printf '%0900d ' 7 8 9 >&2; exit 1`)('cleanup', DNS, NEVER))
    const [[said] = []] = logs.splice(0)
    const { output: much } = said as { readonly output: string }
    assert.ok(much.length > 200 && much.length <= 300, `${much.length}`)
    assert.match(
      (await failure(createHook('/none', logger)('present', DNS, NEVER))).message,
      /cannot be run/,
    )
  })

  test('cannot be run when no file can be opened any more, and the hub lives on', async () => {
    const script = `
      import { openSync } from 'node:fs'
      import { createHook } from ${JSON.stringify(join(import.meta.dirname, 'acme-hook.ts'))}
      const run = createHook('/bin/true', console)
      try { for (;;) openSync('/dev/null') } catch {}
      await run('present', ${JSON.stringify(DNS)}, new AbortController().signal).catch(({ message }) => {
        process.exitCode = 7
        process._rawDebug(message)
      })`
    const { status, stderr } = spawnSync(
      '/bin/sh',
      ['-c', 'ulimit -n 60; exec "$0" "$@"', process.execPath, '--input-type=module', '-e', script],
      { encoding: 'utf8' },
    )
    assert.match(stderr, /^the hook \(present a\.example\) cannot be run: .*EMFILE/m)
    assert.equal(status, 7)
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
    // The signal was sent; when the process is gone the kernel says.
    await waitUntil(
      'the child of the hook is gone',
      () => /State:\s*(?:gone|Z|X)/.test(status()) || undefined,
    )
    const stop = new AbortController()
    const underWay = run('present', DNS, stop.signal)
    stop.abort(new Error('the hub stops'))
    await failure(underWay)
  })
})
