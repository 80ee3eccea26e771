import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { file, hostWithOldFiles, TargetHost } from '../../../test/fakes/target-host.ts'
import type { TargetFile } from './target.ts'

describe('a change of a target', () => {
  test('[TGT-15] puts every file in place with owner and mode, reloads once and says so once', async () => {
    const host = await hostWithOldFiles()
    host.reloads = 0
    const { results, applied } = await host.pass()
    assert.deepEqual(
      results.map(({ result, detail }) => [result, detail]),
      [['applied', 'new_version']],
    )
    assert.deepEqual(host.stand(), host.whole('02'))
    assert.equal(host.reloads, 1)
    assert.deepEqual(applied.listReports().at(-1)?.payload, {
      nome: 'site',
      alvo: 'site.toml',
      serial: '02',
      files: ['/etc/a.pem', '/etc/b.pem', '/srv/c.pem', '/srv/tls/d.pem'],
      probe: 'ok',
      drift: ['/etc/b.pem', '/srv/tls/d.pem'],
    })
    assert.deepEqual(host.leftovers(), [])
    assert.equal((await host.pass()).results[0]?.result, 'up_to_date')
  })

  test('[TRU-15] is made anew when its roots change, where it has them', async () => {
    const host = await hostWithOldFiles()
    const [first, ...others] = host.target.files
    assert.ok(first)
    const withRoots: TargetFile = { ...first, content: { format: 'pem', parts: ['cert', 'ca'] } }
    const results = async (): Promise<unknown[]> =>
      (await host.pass()).results.map(({ result, detail }) => [result, detail])
    const upToDate = [['up_to_date', null]]
    host.caPem = 'old root'
    await host.pass()
    host.caPem = 'old root, new root'
    assert.deepEqual(await results(), upToDate, 'no file has them')

    host.target = { ...host.target, files: [withRoots, ...others] }
    // As a version wrote it that did not keep them.
    assert.deepEqual(await results(), upToDate)
    host.serial = '03'
    assert.deepEqual(await results(), [['applied', 'new_version']])
    host.caPem = 'new root'
    assert.deepEqual(await results(), [['applied', 'new_roots']])
    assert.deepEqual(await results(), upToDate)
  })

  test('[SLD-12] of a file names the version, and no probe', async () => {
    const host = await hostWithOldFiles()
    host.version = 7
    const { applied } = await host.pass()
    assert.deepEqual(applied.listReports().at(-1), {
      ...applied.listReports().at(-1),
      tipo_evento: 'alvo_aplicado',
      payload: {
        nome: 'site',
        alvo: 'site.toml',
        versao: 7,
        files: ['/etc/a.pem', '/etc/b.pem', '/srv/c.pem', '/srv/tls/d.pem'],
        drift: ['/etc/b.pem', '/srv/tls/d.pem'],
      },
    })
    Object.assign(host, { version: 8, serial: '03', reloadFails: true })
    const again = await host.pass()
    assert.deepEqual(again.applied.listReports().at(-1)?.payload, {
      nome: 'site',
      alvo: 'site.toml',
      versao: 8,
      step: 'reload',
      reason: 'exit status 1',
    })
  })

  test('[SLD-12] reports of files wait where whoever knows of none passes them over', async () => {
    const host = await hostWithOldFiles()
    host.version = 7
    const { applied } = await host.pass()
    const [ofPair, ofFile] = applied.listReports()
    const document = JSON.parse(
      Buffer.from(host.disk.look('/state/applied.json')?.content ?? []).toString(),
    ) as Record<string, unknown>
    assert.deepEqual(document['reports'], [ofPair])
    assert.deepEqual(document['file_reports'], [ofFile])
    for (const report of [ofPair, ofFile]) await applied.removeReport(report?.request_id ?? '')
    assert.deepEqual((await host.pass()).applied.listReports(), [])
  })

  const failures: [string, (host: TargetHost) => void, string][] = [
    ['check', (host) => (host.placeRefused = 'no'), 'no'],
    ['reload', (host) => (host.reloadFails = true), 'exit status 1'],
    ['probe', (host) => (host.probeFails = true), 'another serial is served'],
  ]
  for (const [step, spoil, reason] of failures) {
    test(`[TGT-16] that fails at ${step} leaves every file as it was, and is told once`, async () => {
      const host = await hostWithOldFiles()
      const before = host.stand()
      spoil(host)
      const { results, applied } = await host.pass()
      assert.equal(results[0]?.result, 'reverted')
      assert.equal(results[0]?.detail, `${step}: ${reason}`)
      assert.deepEqual(host.stand(), before)
      assert.deepEqual(host.served, before, 'the server goes on with its old files')
      const last = applied.listReports().at(-1)
      assert.equal(last?.tipo_evento, 'alvo_revertido')
      assert.deepEqual(last.payload, {
        nome: 'site',
        alvo: 'site.toml',
        serial: '02',
        step,
        reason,
      })
      assert.deepEqual(host.leftovers(), [])
      await host.pass({ isForced: true })
      assert.equal(
        (await host.pass()).applied.listReports().length,
        2,
        'the same is not told again',
      )
    })
  }

  test('[TGT-31] a reload that fails tells what it printed, with the hub and here, also while the target is held back', async () => {
    const host = await hostWithOldFiles()
    host.reloadFails = true
    host.reloadPrints = 'nginx: [emerg] unknown directive'
    const { results, applied } = await host.pass()
    assert.equal(results[0]?.output, 'nginx: [emerg] unknown directive')
    assert.deepEqual(applied.listReports().at(-1)?.payload, {
      nome: 'site',
      alvo: 'site.toml',
      serial: '02',
      step: 'reload',
      reason: 'exit status 1',
      output: 'nginx: [emerg] unknown directive',
    })
    const again = await host.pass()
    assert.equal(again.results[0]?.result, 'held_back')
    assert.equal(again.results[0]?.output, 'nginx: [emerg] unknown directive')
  })

  test('[TGT-32] what holds a target back is told again when the delivery is another one', async () => {
    const host = await hostWithOldFiles()
    host.reloadFails = true
    const before = (await host.pass()).applied.listReports().length
    host.deliveryId = 'a2a2a2a2-0000-4000-8000-000000000002'
    for (let passes = 0; passes < 2; passes += 1) {
      const { results, applied } = await host.pass()
      assert.equal(results[0]?.result, 'held_back')
      assert.equal(applied.listReports().length, before + 1)
      assert.equal(applied.listReports().at(-1)?.entrega_id, host.deliveryId)
    }
  })

  test('[TGT-33] [EVT-40] a target that failed and is removed from the host is told once, one that is in order is not', async () => {
    const host = await hostWithOldFiles()
    host.reloadFails = true
    const before = (await host.pass()).applied.listReports().length
    host.isTargetGone = true
    for (let passes = 0; passes < 2; passes += 1) {
      const { applied } = await host.pass()
      assert.equal(applied.listReports().length, before + 1)
      const { tipo_evento: type, entrega_id: id, payload } = applied.listReports().at(-1) ?? {}
      assert.deepEqual(
        [type, id, payload],
        ['alvo_removido', host.deliveryId, { nome: 'site', alvo: 'site.toml' }],
      )
    }
    const inOrder = await hostWithOldFiles()
    const told = (await inOrder.pass()).applied.listReports().length
    inOrder.isTargetGone = true
    assert.equal((await inOrder.pass()).applied.listReports().length, told)
  })

  test('[TGT-19] that failed is tried again after a minute, doubling to an hour; at once when the pair is new', async () => {
    const host = await hostWithOldFiles()
    host.reloadFails = true
    const waits: number[] = []
    await host.pass()
    while (waits.length < 8) {
      let waitedMinutes = 0
      do {
        waitedMinutes += 1
        host.nowMs += 60_000
      } while ((await host.pass()).results[0]?.result === 'held_back')
      waits.push(waitedMinutes)
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60])
    host.serial = '03'
    assert.equal((await host.pass()).results[0]?.result, 'reverted')
    host.serial = '02'
    host.nowMs -= 3_600_000
    host.reloadFails = false
    assert.equal((await host.pass()).results[0]?.result, 'applied', 'a clock set back is no reason')
  })

  test('[TGT-18] files that others changed or removed are put back and reported', async () => {
    const host = await hostWithOldFiles()
    await host.pass()
    host.disk.removeQuietly('/etc/a.pem')
    host.disk.putFile('/srv/c.pem', { ...file('content 02', 33, 0o600), gid: 33 })
    const { results, applied } = await host.pass()
    assert.deepEqual([results[0]?.result, results[0]?.detail], ['applied', 'drift'])
    assert.deepEqual(host.stand(), host.whole('02'))
    const { payload } = applied.listReports().at(-1) ?? {}
    assert.ok(payload !== undefined && 'drift' in payload)
    assert.deepEqual(payload.drift, ['/etc/a.pem', '/srv/c.pem'])
  })

  for (const spoil of ['deliveryId', 'serial'] as const) {
    test(`[TGT-14] a pair whose ${spoil} cannot be one is not applied, and spoils no record`, async () => {
      const host = await hostWithOldFiles()
      const before = host.stand()
      host[spoil] = 'x'.repeat(5000)
      assert.equal((await host.pass()).results[0]?.result, 'waiting')
      assert.deepEqual(host.stand(), before)
      assert.equal((await host.pass()).applied.listReports().length, 1)
    })
  }

  test('[TGT-22] what a report says fits into an event, however long paths and reason are', async () => {
    const paths = Array.from({ length: 32 }, (_, index) => `/etc/${'é'.repeat(2000)}${index}`)
    const host = new TargetHost(paths)
    assert.equal((await host.pass()).results[0]?.result, 'applied')
    for (const path of paths) host.disk.removeQuietly(path)
    host.serial = '02'
    await host.pass()
    host.placeRefused = 'no'.repeat(5000)
    host.serial = '03'
    const reports = (await host.pass()).applied.listReports()
    assert.equal(reports.length, 3)
    for (const { payload } of reports)
      assert.ok(Buffer.byteLength(JSON.stringify(payload)) < 16_384)
  })

  test('[TGT-19] a target that was edited is applied anew', async () => {
    const host = await hostWithOldFiles()
    await host.pass()
    host.target = { ...host.target, sourceSha256: 'bb', files: host.target.files.slice(0, 2) }
    const [result] = (await host.pass()).results
    assert.deepEqual([result?.result, result?.detail], ['applied', 'edited'])
  })
  test('[TGT-45] an edit that failed and is taken back is in order again: the target is applied, and told so', async () => {
    const host = await hostWithOldFiles()
    await host.pass()
    const { target } = host
    const result = async (): Promise<unknown> => {
      const { results, applied } = await host.pass()
      return [results[0]?.result, results[0]?.detail, applied.listReports().at(-1)?.tipo_evento]
    }
    host.target = { ...target, sourceSha256: 'bb' }
    host.placeRefused = 'no'
    assert.deepEqual(await result(), ['reverted', 'check: no', 'alvo_revertido'])
    host.target = target
    assert.deepEqual(await result(), ['reverted', 'check: no', 'alvo_revertido'])
    host.placeRefused = undefined
    const [heldBack] = (await host.pass()).results
    assert.equal(heldBack?.result, 'held_back')
    host.nowMs += 60_000
    assert.deepEqual(await result(), ['applied', 'failed_before', 'alvo_aplicado'])
    assert.deepEqual(await result(), ['up_to_date', null, 'alvo_aplicado'])
  })
})
