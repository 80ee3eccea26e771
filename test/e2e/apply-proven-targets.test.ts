// deploy/agent/svc-agent-apply-targets alone: which version of the agent runs as root.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const APPLY = fileURLToPath(new URL('../../deploy/agent/svc-agent-apply-targets', import.meta.url))

describe('[UPD-16] a pass over root’s targets', () => {
  let directory: string
  const at = (name: string): string => join(directory, name)
  const apply = (more: Readonly<Record<string, string>> = {}) =>
    spawnSync(APPLY, [at('svc-agent')], {
      env: { SVC_AGENT_TARGETS_NOTE: at('note'), ...more },
      encoding: 'utf8',
    })
  const writeVersion = (name: string, version: string): void =>
    writeFileSync(at(name), `#!/bin/sh\necho "${version} $*" >>${at('calls')}\n`, { mode: 0o755 })
  const calls = (): string => (existsSync(at('calls')) ? readFileSync(at('calls'), 'utf8') : '')

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'apply-'))
    writeVersion('svc-agent', 'old')
    writeFileSync(at('note'), '')
  })
  // A program that was killed may leave one more file behind.
  afterEach(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))

  test('is made by the version that has proved itself, and the note is gone before it', () => {
    writeFileSync(at('svc-agent'), `#!/bin/sh\nls ${directory} >${at('calls')}\necho "$*"\n`)
    mkdirSync(at('run'))
    const { status, stdout, stderr } = apply({ RUNTIME_DIRECTORY: at('run') })
    assert.deepEqual([status, stdout, stderr], [0, 'targets apply\n', ''])
    assert.ok(!calls().split('\n').includes('note'))
  })

  test('passes the exit status on', () => {
    writeFileSync(at('svc-agent'), '#!/bin/sh\nexit 7\n')
    assert.equal(apply().status, 7)
  })

  test('waits while an update is on trial', () => {
    writeFileSync(at('svc-agent.update'), '')
    const { status, stderr } = apply()
    assert.equal(status, 0)
    assert.equal(
      stderr,
      `svc-agent-apply-targets: an update of ${at('svc-agent')} is on trial: targets wait for its end\n`,
    )
    assert.deepEqual([calls(), existsSync(at('note'))], ['', true])
  })

  test('never runs a version on trial, however often versions are switched and taken back', () => {
    writeVersion('new', 'new')
    // As self-update and its watcher do it.
    const switcher = spawn('/bin/sh', [
      '-c',
      `cd ${directory}
ln svc-agent old
while :; do
  ln -f new next; : >svc-agent.update; mv next svc-agent
  ln -f old next; mv next svc-agent; rm svc-agent.update
done`,
    ])
    try {
      // An update that is seen costs a second: so many are met that a race would be.
      const passes = Array.from({ length: 400 }, () => `"$0" "$1" 2>/dev/null &`).join('\n')
      spawnSync('/bin/sh', ['-c', `${passes}\nwait`, APPLY, at('svc-agent')])
    } finally {
      switcher.kill('SIGKILL')
    }
    assert.match(calls(), /^(old targets apply\n)+$/)
  })
})
