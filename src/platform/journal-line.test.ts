import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, fstatSync, openSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isJournal, journalLine } from './journal-line.ts'

const line = (fields: object): string => `${JSON.stringify(fields)}\n`

describe('[LOG-1] a line of the journal', () => {
  test('has priority, module, message and fields', () => {
    assert.equal(
      journalLine(
        line({
          level: 'warn',
          time: '2026-11-23T00:00:00.000Z',
          module: 'hub.boot',
          variable: 'SVC_VAULT',
          port: 8443,
          reason: 'two words',
          none: null,
          msg: 'Unknown variable',
        }),
      ),
      '<4>hub.boot: Unknown variable variable=SVC_VAULT port=8443 reason="two words" none=null\n',
    )
  })

  test('is one line, and no field passes for another', () => {
    const text = journalLine(
      line({ level: 'error', module: 'x', a: 'b\n<0>c: d', e: 'f=g "h"', i: { j: 'k' }, msg: 'm' }),
    )
    assert.equal(text, '<3>x: m a="b\\n<0>c: d" e="f=g \\"h\\"" i={"j":"k"}\n')
  })

  test('is written only where the descriptor is the journal', () => {
    const descriptor = openSync('/dev/null', 'w')
    try {
      const { dev, ino } = fstatSync(descriptor)
      assert.equal(isJournal(descriptor, `${dev}:${ino}`), true)
      assert.equal(isJournal(descriptor, `${dev}:${ino + 1}`), false)
      assert.equal(isJournal(descriptor, ''), false)
      assert.equal(isJournal(descriptor, undefined), false)
    } finally {
      closeSync(descriptor)
    }
  })
})

test('[LOG-1] a program whose standard error is the journal writes such lines, and JSON when it is told to', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'journal-'))
  const logger = fileURLToPath(new URL('logger.ts', import.meta.url))
  const program = `
    const { createLoggingFromEnvironment } = await import(${JSON.stringify(logger)})
    const log = (await createLoggingFromEnvironment(process.env)).forModule('hub.boot')
    log.warn({ token: 'svct_secret', reason: 'as svct_secret' }, 'Said')
  `
  const lineWith = async (extra: Record<string, string>): Promise<string> => {
    const path = join(directory, 'stderr')
    const stderr = openSync(path, 'w')
    const { dev, ino } = fstatSync(stderr)
    const env = { JOURNAL_STREAM: `${dev}:${ino}`, ...extra }
    const args = ['--input-type=module', '-e', program]
    const { status } = spawnSync(process.execPath, args, {
      env,
      stdio: ['ignore', 'inherit', stderr],
    })
    closeSync(stderr)
    assert.equal(status, 0)
    return readFile(path, 'utf8')
  }
  try {
    const text = '<4>hub.boot: Said token=[redacted] reason="as [redacted]"\n'
    assert.equal(await lineWith({}), text)
    assert.equal(await lineWith({ SVC_LOG_FORMAT: 'text' }), text)
    assert.match(await lineWith({ SVC_LOG_FORMAT: 'json' }), /^\{"level":"warn"/)
    assert.match(await lineWith({ JOURNAL_STREAM: '1:2' }), /^\{"level":"warn"/)
  } finally {
    await rm(directory, { recursive: true })
  }
})
