// Evidence of vaults that released versions made, whose entries say less: docs/protocol.md EVD-7, EVD-13, docs/support.md. The verifier
// must find nothing false in it.

import assert from 'node:assert/strict'
import { chmod, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { openVaultStore } from '../../src/hub/open-store.ts'
import { growLogTree, newLogTree } from '../../src/hub/service/log-tree.ts'
import { unsealVault } from '../../src/hub/vault/vault.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { Secret } from '../../src/platform/secret.ts'
import { PASSPHRASE } from '../support/hub.ts'
import { startTool } from '../support/processes.ts'
import { runSvcHere } from '../support/run-svc.ts'
import { withTools } from '../support/tools.ts'

const VAULTS = join(import.meta.dirname, '../vectors/vaults')
const SCRIPT = join(import.meta.dirname, '../../tools/verify-evidence.py')

interface Line {
  readonly key?: string
  readonly certificate?: { readonly not_recorded: readonly string[] }
}

const parseLine = (line: string): Line => JSON.parse(line) as Line

describe('[EVD-7] [EVD-13] evidence of a vault', withTools('python3'), async () => {
  const versions = await readdir(VAULTS)
  assert.ok(versions.length >= 4)
  for (const version of versions) {
    test(`that ${version} made accuses nobody, and says what was not recorded`, async () => {
      const directory = await mkdtemp(join(tmpdir(), 'released-'))
      try {
        const vaultRoot = join(directory, 'vault')
        await cp(join(VAULTS, version), vaultRoot, { recursive: true })
        // Git keeps no modes.
        await chmod(vaultRoot, 0o700)
        for (const name of ['config.json', 'db.enc', 'audit.head']) {
          await chmod(join(vaultRoot, name), 0o600)
        }
        const { serials, middle } = await signAll(vaultRoot)
        const [file, list] = [join(directory, 'evidence'), join(directory, 'serials')]
        await writeFile(list, serials.map((serial) => `0x${serial}\n`).join(''))
        const environment = { SVC_VAULT_ROOT: vaultRoot, SVC_MASTER_PASSPHRASE: PASSPHRASE }
        // Each opens the vault, which is dear: its passphrase is not one of tests.
        for (const from of ['2020-01-01', middle]) {
          const period = ['--from', from, '--to', '2100-01-01', '--ca-serials', list]
          const made = ['evidence', ...period, '--out', file, '--replace']
          const ended = await runSvcHere(made, environment)
          assert.deepEqual([ended.stderr, ended.status], ['', 0])
          const lines = (await readFile(file, 'utf8')).trimEnd().split('\n').map(parseLine)
          for (const { certificate } of lines) {
            if (certificate === undefined) continue
            assert.partialDeepStrictEqual(certificate.not_recorded, ['request', 'politica'])
          }
          const args = [SCRIPT, file, '--key', lines[0]?.key ?? '', '--ca-serials', list]
          const { stdout, stderr, status } = await startTool('python3', args).ended
          assert.deepEqual([stderr, status], ['', 0], stdout)
          assert.match(stdout, from === middle ? /^proven: / : / [1-9]\d* certificates, /)
        }
      } finally {
        await rm(directory, { recursive: true, force: true })
      }
    })
  }
})

/** As a hub of this version does in its first second; the serials of the log, and the time of an entry in its middle. */
async function signAll(vaultRoot: string): Promise<{ serials: string[]; middle: string }> {
  const vault = await unsealVault(vaultRoot, new Secret(PASSPHRASE))
  const store = await openVaultStore(vault, { clock: systemClock })
  try {
    const before = (await store.reader.findLogTree()) ?? newLogTree(vault.vaultId)
    const records = await store.reader.listRecords(before.frontier.size, 100_000)
    const { tree, filled } = growLogTree(before, records)
    await store.write((writer) => writer.putLogTree(tree, filled))
    const entries = await store.reader.listEntries({ afterSeq: 0, limit: 100_000 })
    const issued = entries.filter(({ eventType }) => eventType === 'certificate_issued')
    return {
      serials: issued.map(
        ({ payloadText }) => (JSON.parse(payloadText) as { serial: string }).serial,
      ),
      middle: entries[Math.floor(entries.length / 2)]?.timestamp ?? assert.fail('no entries'),
    }
  } finally {
    await store.close()
  }
}
