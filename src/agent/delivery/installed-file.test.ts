import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { errnoCode } from '../../platform/errors.ts'
import type { ArtefactName } from '../../protocol/identifiers.ts'
import { type FileOperations, nodeFileOperations } from '../files/file-operations.ts'
import { readInstalledFile, storeFile } from './installed-file.ts'

const NAME = 'site.conf' as ArtefactName

class Killed extends Error {}

/** The process dies before its n-th operation; `observe` looks in before each. */
function dyingAt(n: number, observe: () => Promise<void>): FileOperations {
  let count = 0
  const wrapped = Object.entries(nodeFileOperations).map(([name, operation]) => [
    name,
    async (...args: unknown[]) => {
      await observe()
      count += 1
      if (count >= n) throw new Killed()
      return (operation as (...rest: unknown[]) => Promise<unknown>)(...args)
    },
  ])
  return Object.fromEntries(wrapped) as FileOperations
}

function versionOf(version: number) {
  const record = { delivery_id: 'd', cargo_id: 'c', version, request_id: 'r' }
  const content = Buffer.concat([Buffer.from([0, 255, version]), Buffer.alloc(100_000, version)])
  return { content, mode: 0o600, record: { ...record, sha256: String(version).repeat(64) } }
}

async function read(outDir: string): Promise<Buffer | undefined> {
  try {
    return await readFile(join(outDir, NAME))
  } catch (error) {
    assert.equal(errnoCode(error), 'ENOENT')
    return undefined
  }
}

describe('a delivered file in out/', () => {
  for (const versionsBefore of [0, 1, 2]) {
    test(`[SLD-6] after ${versionsBefore} versions, killed at any operation: whole, of one version, and nobody else's`, async () => {
      for (let n = 1, isDone = false; !isDone; n += 1) {
        const outDir = await mkdtemp(join(tmpdir(), 'installed-file-'))
        try {
          for (let version = 1; version <= versionsBefore; version += 1) {
            await storeFile(outDir, NAME, versionOf(version))
          }
          const fresh = versionsBefore + 1
          const allowed = [
            versionsBefore === 0 ? undefined : versionOf(versionsBefore).content,
            versionOf(fresh).content,
          ]
          const check = async (): Promise<void> => {
            const found = await read(outDir)
            assert.ok(allowed.some((one) => (one && found ? one.equals(found) : one === found)))
            const installed = await readInstalledFile(outDir, NAME)
            assert.equal(installed?.record.version, found?.[2])
            if (found === undefined) return
            assert.equal((await stat(join(outDir, NAME))).mode & 0o777, 0o600)
          }
          isDone = await storeFile(outDir, NAME, versionOf(fresh), dyingAt(n, check)).then(
            () => true,
            (error: unknown) => {
              assert.ok(error instanceof Killed)
              return false
            },
          )
          await check()
          await storeFile(outDir, NAME, versionOf(9))
          assert.deepEqual(await read(outDir), versionOf(9).content)
          assert.deepEqual((await readdir(outDir)).sort(), ['.files', NAME])
          const kept = (await readdir(join(outDir, '.files', NAME))).length
          assert.ok(kept <= 3, 'the current version, the one before it, and the link')
        } finally {
          await rm(outDir, { recursive: true })
        }
      }
    })
  }
})
