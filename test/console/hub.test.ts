// The hubs and where the log is kept: what the page shows of a new hub, of one whose log has been kept for long, and of two hubs.

import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { AdminReplies } from '../../src/protocol/admin/operations.ts'
import { postgresProgram, skipUnlessRunnable } from '../services/support/required-programs.ts'
import { appendAged } from '../support/aged-log.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { placeBuiltConsole } from '../support/built-console.ts'
import { findFreePort } from '../support/free-port.ts'
import { WITH_ADMIN_PORT } from '../support/hub.ts'
import { waitUntil } from '../support/processes.ts'
import { startSeveralHubs } from '../support/several-hubs.ts'
import { startTestCa } from '../support/test-hub.ts'
import { testWitness } from '../support/test-witness.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { launchBrowser, openContext, settle, THEMES } from './support/console-browser.ts'
import { openConsole, type OpenConsole } from './support/open-console.ts'

describe('the hub and its log, new', WITH_BROWSER, () => {
  let opened: OpenConsole
  before(async () => {
    opened = await openConsole()
  })
  after(() => opened[Symbol.asyncDispose]())

  test('is reached from the overview, and each part says what comes there and by which command', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.locator('main').getByRole('link', { name: 'Hubs and log keeping' }).click()
    await page.getByRole('heading', { level: 1, name: 'Hubs and log keeping' }).waitFor()
    // The hub signs within a second of an entry, and nothing rings then.
    await page.getByText('covers the whole log').waitFor()
    await page.getByText('Once SVC_LOG_ARCHIVE_DIR of the hub names a directory').waitFor()
    await settle(page)
    const text = await page.locator('main').innerText()
    for (const expected of [
      'One hub has this vault',
      'svc standby status',
      'Not kept',
      'SVC_CHECKPOINT_PATH',
      'Nobody else has signed the log',
      'svc checkpoint --add-checkpoint 0 >request',
      'All entries are in the vault',
      'svc event archive --before 180d',
    ]) {
      assert.ok(text.includes(expected), `${expected} in ${text}`)
    }
    const { key } = await opened.hub.admin<AdminReplies['showCheckpoint']>(
      'GET',
      '/v1/admin/checkpoint',
    )
    assert.ok(text.includes(key ?? 'a key'))
    // It shows, and does nothing but copy.
    const buttons = await page
      .locator('main button')
      .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? one.textContent))
    assert.deepEqual([...new Set(buttons)], ['Copy'])
    person.assertBlameless()
  })

  test('is found by its name, and has a Portuguese one', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.keyboard.press('Control+k')
    await page.keyboard.type('log keep')
    await page.getByRole('option', { name: 'Hubs and log keeping' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/console/hub')
    await page.evaluate(`localStorage.setItem('cartorio.language', 'pt-BR')`)
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Hubs e guarda do log' }).waitFor()
    await page.getByText('Um só hub tem este cofre').waitFor()
    person.assertBlameless()
  })

  test('asks of other hubs once, where the vault has none', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    let asked = 0
    page.on('request', (request) => {
      if (request.url().endsWith('/v1/admin/hubs')) asked += 1
    })
    await page.goto('/console/hub')
    await page.getByText('One hub has this vault').waitFor()
    // Longer than what changes with time waits.
    await page.waitForTimeout(6000)
    assert.equal(asked, 1)
    await page.locator('nav a[href$="/console/hosts"]').first().click()
    await page.getByRole('heading', { level: 1, name: 'Hosts' }).waitFor()
    await page.goBack()
    await page.getByText('One hub has this vault').waitFor()
    await settle(page)
    assert.equal(asked, 1, 'on the way back')
  })

  test('a checkpoint that follows its entry shows by itself', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    let isBehind = true
    await page.route('**/v1/admin/checkpoint', async (route) => {
      if (!isBehind) return route.continue()
      const path = '/v1/admin/checkpoint'
      const signed = await opened.hub.admin<AdminReplies['showCheckpoint']>('GET', path)
      const head = { ...signed.head, seq: signed.entries + 1 }
      return route.fulfill({ json: { ...signed, head } })
    })
    await page.goto('/console/hub')
    await page.getByText(/^covers \d+ of \d+ entries$/).waitFor()
    // What the sign-in and the new stream ring for has been asked by then.
    await page.waitForTimeout(7000)
    isBehind = false
    await page.getByText('covers the whole log').waitFor()
  })

  test('while nobody knows whether there is a directory for old entries, none is asked for', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.route('**/v1/admin/examination', (route) => route.abort())
    await page.goto('/console/hub')
    await page.getByText('All entries are in the vault').waitFor()
    assert.equal(await page.getByText('SVC_LOG_ARCHIVE_DIR').count(), 0)
  })
})

describe('the hub and its log, kept for long', WITH_BROWSER, () => {
  const OLD = 600
  /** The newest thousand stay in the vault, however old they are. */
  const YOUNG = 1100
  const started = new AsyncDisposableStack()
  let opened: OpenConsole
  let archive: string
  before(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'cartorio-hub-story-'))
    started.defer(() => rm(directory, { recursive: true }))
    archive = await mkdtemp(join(directory, 'archive-'))
    const outside = await mkdtemp(join(directory, 'outside-'))
    opened = started.use(
      await openConsole(
        {
          SVC_ADMIN_BIND: `127.0.0.1:${await findFreePort()}`,
          SVC_LOG_ARCHIVE_DIR: archive,
          SVC_CHECKPOINT_PATH: outside,
        },
        {},
        (hub) =>
          appendAged(hub, [
            { count: OLD, daysAgo: 100 },
            { count: YOUNG, daysAgo: 1 },
          ]),
      ),
    )
    const { hub } = opened
    await waitUntil('a checkpoint of all entries', async () => {
      const { stdout } = await hub.svc('checkpoint')
      return Number(stdout.split('\n')[1]) >= OLD + YOUNG ? true : undefined
    })
    const { stdout, stderr } = await hub.svc('event', 'archive', '--before', '90d')
    assert.match(stdout, /^events 1 to 512 are archived/, stderr)
    const witness = testWitness('witness.example/<b>w1</b>')
    const path = join(directory, 'cosigned')
    const seconds = Math.floor(Date.now() / 1000) - 7200
    await writeFile(path, witness.cosign((await hub.svc('checkpoint')).stdout, seconds))
    const kept = await hub.svc('checkpoint', '--cosigned', path, '--witness-key', witness.key)
    assert.equal(kept.status, 0, kept.stderr)
  })
  after(() => started.disposeAsync())

  test('shows the segments, the directory, the place outside and who signed', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.goto('/console/hub')
    await settle(page)
    const segments = page.getByRole('region', { name: 'Archived entries' })
    await segments.getByText('1–512').waitFor()
    await segments.getByText('Present').waitFor()
    await segments.getByText(archive).waitFor()
    await segments.getByText('svc event archive --before 180d').waitFor()
    const checkpoints = page.getByRole('region', { name: 'Checkpoints of the log' })
    await checkpoints.getByText('Whole log', { exact: true }).nth(1).waitFor()
    const witnesses = page.getByRole('region', { name: 'Witnesses' })
    await witnesses.getByText('witness.example/<b>w1</b>').waitFor()
    await witnesses.getByText(/^2 h (\d\d )?ago$/).waitFor()
    await witnesses.getByText(/^It signed the log up to entry [\d,]+\./).waitFor()
    await witnesses.getByText(/svc checkpoint --add-checkpoint \d+ >request/).waitFor()
    person.assertBlameless()
  })

  for (const theme of THEMES) {
    test(`axe finds no fault, ${theme.theme} at ${theme.widthPx}`, async () => {
      await using person = await opened.signIn('viewer', theme)
      await person.page.goto('/console/hub')
      await person.page.getByText('Present').waitFor()
      await settle(person.page)
      await checkAccessibility(person.page)
      person.assertBlameless()
    })
  }

  test('on a phone the longest state of a file is whole', async () => {
    await using person = await opened.signIn('viewer', { widthPx: 390 })
    const { page } = person
    const path = '/v1/admin/eventos/segments'
    const listed = await opened.hub.admin<AdminReplies['listSegments']>('GET', path)
    const segments = listed.segments.map((one) => ({ ...one, state: 'damaged' }))
    await page.route(`**${path}*`, (route) => route.fulfill({ json: { ...listed, segments } }))
    await page.evaluate(`localStorage.setItem('cartorio.language', 'pt-BR')`)
    await page.goto('/console/hub')
    const pill = page.getByRole('region', { name: 'Eventos arquivados' }).getByText('Com defeito')
    await pill.waitFor()
    const overhang = await pill.evaluate((one) => {
      const cell = one.closest('td')
      return cell === null ? NaN : cell.scrollWidth - cell.clientWidth
    })
    assert.equal(overhang, 0)
  })

  test('keeps what it showed while the hub is away, and names a file that is gone', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.goto('/console/hub')
    await page.getByText('Present').waitFor()
    await page.getByText('covers the whole log').waitFor()
    await opened.hub.stop()
    await page.locator('.live').getByText(/ old$/).waitFor()
    await page.getByText('1–512').waitFor()
    await page.getByText('covers the whole log').waitFor()
    const [file = ''] = await readdir(archive)
    await rm(join(archive, file))
    await opened.hub.start()
    await page.getByText('Missing', { exact: true }).waitFor()
    await page.getByText('1 file is missing or damaged').waitFor()
    await checkAccessibility(page)
  })
})

const { skip: noBrowser } = WITH_BROWSER
const noPostgres = skipUnlessRunnable([postgresProgram('postgres')])

describe('two hubs of one vault', { skip: noBrowser || noPostgres }, () => {
  test('are listed, and one that is killed is silent within seconds, with the command that takes it out', async () => {
    await using opened = new AsyncDisposableStack()
    await placeBuiltConsole()
    const ca = opened.use(await startTestCa())
    const environment = { ...WITH_ADMIN_PORT, SVC_SERVER_CN: 'localhost' }
    const hubs = opened.use(
      await startSeveralHubs(2, { caEnvironment: ca.environment, environment }),
    )
    const [here, there] = hubs.all
    assert.ok(here && there)
    const browser = await launchBrowser()
    opened.defer(() => browser.close())
    const origin = `https://localhost:${here.ports.admin}`
    const { context, misdeeds } = await openContext(browser, origin)
    const page = await context.newPage()
    const { code } = await here.admin<AdminReplies['createSignInLink']>(
      'POST',
      '/v1/admin/sign-in-links',
      { name: 'oncall', role: 'viewer', ttl_seconds: 3600 },
    )
    await page.goto(`/console/sign-in#code=${code}`)
    await page.waitForURL(`${origin}/console/`)
    await page.goto('/console/hub')
    const hubsCard = page.getByRole('region', { name: 'Hubs of this vault' })
    await hubsCard.getByText('Running').nth(1).waitFor()
    await hubsCard.getByText('answers here').waitFor()
    await hubsCard
      .getByText(/^(has everything|\d+ records?)$/)
      .nth(1)
      .waitFor()
    assert.equal(await hubsCard.getByText('svc hubs remove').count(), 0)
    await there.stop('SIGKILL')
    await hubsCard.getByText('Silent').waitFor()
    // Both are of this machine: its name would be of two.
    const { hubs: listed } = await here.admin<AdminReplies['listHubs']>('GET', '/v1/admin/hubs')
    const gone = listed.find(({ is_this: isThis }) => !isThis)
    await hubsCard.getByText(`svc hubs remove ${gone?.id ?? ''}`).waitFor()
    await checkAccessibility(page)
    assert.deepEqual(misdeeds, { reports: [], foreignRequests: [], errors: [] })
  })
})
