// What the programs beside `svc` print into a full disk, or to a reader that has gone.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startCommand, waitUntil } from '../support/processes.ts'

const BIN = fileURLToPath(new URL('../../bin', import.meta.url))

describe('output that cannot be written', () => {
  let directory = ''
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'lost-output-'))
  })
  after(() => rm(directory, { recursive: true, force: true }))

  function inShell(script: string): { status: number | null; stderr: string } {
    const { status, stderr } = spawnSync('sh', ['-c', script], {
      cwd: directory,
      encoding: 'utf8',
      env: {
        PATH: `${BIN}:${process.env['PATH'] ?? ''}`,
        SVC_AGENT_DATA_DIR: join(directory, 'agent'),
      },
    })
    return { status, stderr }
  }

  const onAFullDisk: [string, string, number][] = [
    ['svc-server', 'svc-server --help', 1],
    ['svc-server', 'svc-server --version', 1],
    ['svc-server', 'svc-server --check', 1],
    ['svc-server', 'svc-server --check --json', 1],
    ['svc-agent', 'svc-agent audit', 1],
    ['svc-agent', 'svc-agent completion bash', 1],
    // 1 and 2 say something of the certificate.
    ['svc-agent', 'svc-agent check', 255],
    ['svc-ca', 'svc-ca init --dir ca', 1],
    ['svc-ca', 'svc-ca completion bash', 1],
  ]
  for (const [program, command, exitStatus] of onAFullDisk) {
    test(`${command} says so on a full disk, without a stack`, () => {
      const { status, stderr } = inShell(`${command} > /dev/full`)
      assert.equal(
        stderr,
        `${program}: error: cannot write the output: ENOSPC: no space left on device, write\n` +
          `${program}: hint: free space on that disk\n`,
      )
      assert.equal(status, exitStatus)
    })
  }

  test('svc-ca serve does not serve on a full disk what it cannot name', async () => {
    assert.equal(inShell('svc-ca init --dir served > served.env').status, 0)
    const serve = `exec svc-ca serve --dir served --listen 127.0.0.1:0 > /dev/full`
    const ca = startCommand('/bin/sh', ['-c', `cd '${directory}' && ${serve}`], {
      PATH: `${BIN}:${process.env['PATH'] ?? ''}`,
    })
    try {
      await waitUntil('the end', () => ca.hasEnded() || undefined)
    } finally {
      ca.kill('SIGKILL')
    }
    const { status, stderr } = await ca.ended
    assert.equal(
      stderr,
      'svc-ca: error: cannot write the output: ENOSPC: no space left on device, write\n' +
        'svc-ca: hint: free space on that disk\n',
    )
    assert.equal(status, 1)
  })

  test('a reader that has gone is no failure', () => {
    for (const command of ['svc-server --help', 'svc-agent audit', 'svc-ca completion bash']) {
      const { stderr } = inShell(`{ sleep 1; ${command}; echo "status $?" >&2; } | true`)
      assert.equal(stderr, 'status 0\n', command)
    }
  })
})
