// The hub's log as its agents see it: docs/protocol.md CHN-19 to CHN-26.

import assert from 'node:assert/strict'
import { cp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { verifyConsistency } from '../../src/audit/merkle-proofs.ts'
import { parseCheckpoint } from '../../src/audit/checkpoint.ts'
import { openNote, parseVerifierKey } from '../../src/audit/signed-note.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { findFreePort } from '../support/free-port.ts'
import { enrolHost, type ManagedHost } from '../support/managed-host.ts'
import { waitUntil } from '../support/processes.ts'
import type { TestHub } from '../support/hub.ts'
import { embeddedAlone } from '../support/test-store.ts'
import { useCa, useHub } from '../support/use-hub.ts'
import { startTestHub } from '../support/test-hub.ts'
import { send } from '../support/wire-client.ts'

describe('[CHN-19] [CHN-20] the log on the port of agents', () => {
  const { hub } = useHub()

  test('is shown with each answer, by its key, and with proofs that it has only grown', async () => {
    const { mtls } = await enrollHost(hub, 'web-1.example')
    const shown = (): Promise<string> =>
      waitUntil('a checkpoint', async () => {
        const { headers } = await send(mtls, { path: '/v1/manifest' })
        const header = headers['x-log-checkpoint']
        return typeof header === 'string' ? Buffer.from(header, 'base64').toString() : undefined
      })
    const { json } = await waitUntil('the log', async () => {
      const reply = await send(mtls, { path: '/v1/log' })
      return reply.status === 200 ? reply : undefined
    })
    assert.deepEqual(json['epochs'], [])
    const verifier = parseVerifierKey(json['key'] as string) ?? assert.fail('a key')
    const open = (note: string) => {
      const { size, root } =
        parseCheckpoint(openNote(note, [verifier])?.text ?? '') ?? assert.fail(note)
      return { size, root }
    }
    const older = open(await shown())
    await hub.createToken({ hostname: 'web-2.example' })
    const newer = await waitUntil('another checkpoint', async () => {
      const now = open(await shown())
      return now.size > older.size ? now : undefined
    })
    const path = `/v1/log/consistency?from=${older.size}&to=${newer.size}`
    const reply = await send(mtls, { path })
    const proof = (reply.json['proof'] as string[]).map((text) => Buffer.from(text, 'base64'))
    assert.ok(verifyConsistency(older, newer, proof))
    for (const query of ['', '?from=2&to=1', '?from=1&to=99999', '?from=-1&to=1', '?from=x&to=1']) {
      const refused = await send(mtls, { path: `/v1/log/consistency${query}` })
      assert.deepEqual([refused.status, refused.json['error']], [400, 'request_invalid'], query)
    }
  })
})

describe('[CHN-24] [CHN-25] [CHN-34] [CHN-35] [CLI-120] an agent of a hub whose vault was put back', () => {
  const { ca } = useCa()

  const auditOf = async (
    host: ManagedHost,
  ): Promise<{
    status: number | null
    state: string
    origin: string
    entries: number
    alarms: { reason: string }[]
    receipts: { count: number; file: string }
  }> => {
    const { status, stdout } = await host.agent('audit', '--json')
    return { status, ...(JSON.parse(stdout) as object) } as never
  }
  const isAt = (host: ManagedHost, isSo: (audit: Awaited<ReturnType<typeof auditOf>>) => boolean) =>
    waitUntil('the agent to have looked', async () => {
      const audit = await auditOf(host)
      return isSo(audit) ? audit : undefined
    })

  const signedEntries = async (hub: TestHub): Promise<number> => {
    const { stdout } = await hub.svc('checkpoint', '--json')
    return (JSON.parse(stdout) as { entries: number }).entries
  }

  const alone = embeddedAlone('the journal gives back what a vault has lost that was put back')

  test('raises the alarm, keeps the evidence, and goes on working', alone, async () => {
    // The agent finds it at the same place again.
    const environment = {
      SVC_SERVER_CN: 'localhost',
      SVC_MTLS_BIND: `127.0.0.1:${await findFreePort()}`,
    }
    await using hub = await startTestHub({ caEnvironment: ca.environment, environment })
    await using host = await enrolHost(hub, 'web-1.example')
    const copy = join(hub.directory, 'yesterday')
    await hub.stop()
    await cp(hub.vaultRoot, copy, { recursive: true })
    await hub.start()
    const copied = await signedEntries(hub)
    await hub.createToken({ hostname: 'h1' })
    // What the agent sees first is more than the copy has.
    await waitUntil('a checkpoint', async () => (await signedEntries(hub)) > copied || undefined)
    const running = host.run()
    try {
      const seen = await isAt(host, ({ state }) => state === 'good')
      assert.equal(seen.status, 0)
      const receipts = join(hub.directory, 'web-1.receipts.jsonl')
      await waitUntil('a receipt', async () => {
        const { receipts: kept } = await auditOf(host)
        if (kept.count > 0) await cp(kept.file, receipts)
        return kept.count > 0 || undefined
      })
      const heldAgainstLog = async () => {
        const file = join(hub.directory, 'log.export')
        await hub.svc('evento', 'export', '--out', file, '--replace')
        const key = (await hub.svc('checkpoint', '--key')).stdout.trim()
        return hub.svc('evento', 'verify', file, '--key', key, '--receipts', receipts)
      }
      const borneOut = await waitUntil('the checkpoint of the receipts', async () => {
        const ended = await heldAgainstLog()
        return ended.status === 0 ? ended.stdout : undefined
      })
      assert.match(borneOut, /\nreceipts ok: all \d+ are in the log\n$/)
      await hub.stop()
      await rm(hub.vaultRoot, { recursive: true })
      await cp(copy, hub.vaultRoot, { recursive: true })
      await hub.start()
      const alarmed = await isAt(host, ({ state }) => state === 'alarm')
      assert.equal(alarmed.status, 2)
      assert.match(
        alarmed.alarms[0]?.reason ?? '',
        /^(the log has \d+ entries, and had \d+|the checkpoint is not signed with the key of the log)$/,
      )
      const missing = await heldAgainstLog()
      assert.equal(missing.status, 2)
      assert.match(
        missing.stdout,
        /\nreceipt \S+ \(agent_started\) of \S+: no entry of the log has/,
      )
      assert.match(
        missing.stderr,
        /^svc: error: the log does not bear out \d+ of \d+ receipts\nsvc: hint: export the log/,
      )
      await hub.svc(
        'carga',
        'create',
        '--tipo',
        'csr_cert',
        '--nome',
        'site',
        '--agente',
        host.hostname,
      )
      await waitUntil('the delivery', async () => {
        const files = await readdir(join(host.dataDir, 'out')).catch((): string[] => [])
        return files.includes('site.crt') || undefined
      })
    } finally {
      running.kill('SIGKILL')
    }
  })
})
