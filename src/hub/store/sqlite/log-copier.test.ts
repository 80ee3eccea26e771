import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { copyLogIntoFile } from './log-copier.ts'

describe('the copier of the write-ahead log', () => {
  let directory: string
  let logPath: string
  let steps: string[]
  const connection = {
    pragma: (text: string): unknown => {
      steps.push(text)
      return []
    },
  }
  const die = (): void => void steps.push('died')
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'copier-'))
    logPath = join(directory, 'db.enc-wal')
    steps = []
  })
  afterEach(() => rm(directory, { recursive: true }))

  test('[ARC-6] the file is synced after the copy, and every later commit waits for its own sync again', async () => {
    await writeFile(logPath, 'log')
    const datasync = async (): Promise<void> => void steps.push('file synced')
    await copyLogIntoFile({ connection, logPath, openFile: async () => ({ datasync }), die })
    assert.deepEqual(steps, [
      'synchronous = OFF',
      'wal_checkpoint(PASSIVE)',
      'synchronous = FULL',
      'file synced',
    ])
  })

  test('[ARC-6] where log or file cannot be opened nothing is copied', async () => {
    const datasync = (): Promise<void> => Promise.reject(new Error('not to be synced'))
    await copyLogIntoFile({ connection, logPath, openFile: async () => ({ datasync }), die })
    await writeFile(logPath, 'log')
    const failure = Object.assign(new Error('too many open files'), { code: 'EMFILE' })
    await copyLogIntoFile({ connection, logPath, openFile: () => Promise.reject(failure), die })
    assert.deepEqual(steps, [])
  })

  test('[ARC-6] when the file cannot be synced the process ends before anybody overwrites the log', async () => {
    await writeFile(logPath, 'log')
    const datasync = (): Promise<void> => Promise.reject(new Error('EIO'))
    await copyLogIntoFile({ connection, logPath, openFile: async () => ({ datasync }), die })
    assert.equal(steps.at(-1), 'died')
  })
})
