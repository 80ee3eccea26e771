// The two tiers of the tests. `npm test` runs the first, `npm run test:all` both. A file belongs to the first tier
// unless this table names it, or a folder that it is in; docs/reference/tests.md is written from it.

import type { SourceFile } from './source-files.ts'

export type Tier = 'first' | 'second'
export type TestRun = Tier | 'all'

interface SecondTierEntry {
  /** A file, or a folder with its `/`, or how the names of files begin. */
  readonly path: string
  readonly proves: string
  /** Why not every contributor waits for it. */
  readonly why: string
}

export const SECOND_TIER: readonly SecondTierEntry[] = [
  {
    path: 'test/reliability/rows-',
    proves:
      'each promise of docs/reliability.md in its small setting: kills, faults and clients by the dozen',
    why: 'it repeats; the first tier has each kill and fault once',
  },
  {
    path: 'test/versions/',
    proves: 'released versions of agent, hub, CLI and vault work with this one',
    why: 'it installs the released versions; test/conformance/released-vaults.test.ts opens their vaults in the first tier',
  },
  {
    path: 'test/foreign/',
    proves:
      'what others wrote agrees with Cartorio: the real step-ca, OpenBao, age, Prometheus, schemathesis, Java, Chromium',
    why: 'it downloads and builds them; the first tier has svc-ca and the age library',
  },
  {
    path: 'test/console/',
    proves:
      'what people see and do in the console, in Chromium with a real hub: stories, the content policy, axe',
    why: 'it needs Chromium, and starts a hub for each file; what decides is tested beside the code; `npm run test:second` has signing in, roles, enrolment, deliveries that fail and hostile texts, and `npm run test:console` the rest',
  },
  {
    path: 'test/services/',
    proves:
      'targets with nginx, haproxy, PostgreSQL and Java, under load, kills and a hostile owner',
    why: 'it needs root and those services; the target tests beside the code stay in the first tier',
  },
  {
    path: 'test/packages/',
    proves:
      'the Debian packages, units, container images and documented proxies work as they are delivered',
    why: 'it builds the packages and needs root; what it tests changes seldom',
  },
  {
    path: 'test/machines/',
    proves: 'the packages on a Debian with a systemd of its own: units, path units, updates, purge',
    why: 'it makes a Debian, boots it and needs root; test/packages has what can be seen without systemd',
  },
  {
    path: 'test/conformance/shared-vault.test.ts',
    proves:
      'a vault with its journal in PostgreSQL: made, moved, killed, joined, without its database',
    why: 'it starts a database and a dozen programs, and waits for a database that is away',
  },
  {
    path: 'test/e2e/both-stores.test.ts',
    proves: 'a hub whose vault has its journal in PostgreSQL does what other hubs do',
    why: 'it runs tests of the first tier once more; `TEST_STORE=postgresql npm test -- conformance` runs all of them so',
  },
  {
    path: 'test/e2e/stolen-dump.test.ts',
    proves: 'neither a dump nor the disk of the database shows anything of what a vault holds',
    why: 'it starts a database, and searches all of its files',
  },
  {
    path: 'test/clusters/reference-',
    proves:
      'in the set-up of the docs a hub loses nothing when the leader of its database is killed, and HAProxy finds the hub that serves',
    why: 'it starts three databases with Patroni and etcd, and two hubs with HAProxy; `npm run cluster` has the other faults',
  },
  {
    path: 'test/conformance/standby.test.ts',
    proves:
      'a hub and its standby as processes: promoted, away, back, put in the place of each other',
    why: 'it starts a dozen programs and waits for a standby that is away; src/hub/standby has the same in one process',
  },
  {
    path: 'test/clusters/promotions.test.ts',
    proves: 'promotions of a standby under load lose nothing that was acknowledged',
    why: 'it starts two machines a dozen times; `npm run promotions -- --full` promotes 100 times',
  },
  {
    path: 'test/conformance/several-hubs.test.ts',
    proves:
      'several hubs with one vault: what each knows of the others, tokens, leases, hubs that are gone',
    why: 'it starts a database and several hubs, and waits for leases to end',
  },
  {
    path: 'test/conformance/hubs-and-the-ca.test.ts',
    proves: 'several hubs together ask no more of the CA at once than one does',
    why: 'it starts a database and three hubs; the share of each is tested beside the code',
  },
  {
    path: 'test/conformance/rolling-upgrade.test.ts',
    proves: 'three hubs go to the next version one after the other, while agents use them',
    why: 'it starts a database, and hubs of three versions; what a hub does to the tables is tested beside the code',
  },
  {
    path: 'test/e2e/doctor-faults.test.ts',
    proves: 'svc doctor finds full and dead disks, limits, clocks, and what stands still',
    why: 'it waits for what never answers, and mounts; test/conformance has the other faults',
  },
  {
    path: 'test/fuzz/',
    proves: 'thousands of malformed requests to a real hub',
    why: 'it is long; the grammars of requests have property tests in the first tier',
  },
  {
    path: 'test/e2e/self-update',
    proves: 'an agent that updates itself, is supervised while it does, and goes back',
    why: 'it builds executables and restarts them; the decisions are tested beside the code',
  },
  {
    path: 'test/e2e/announced-update.test.ts',
    proves:
      'an update that the hub announces goes out in waves, is refused where it must be, and goes back',
    why: 'it builds executables and restarts them; the decisions of hub and agent are tested beside the code',
  },
  {
    path: 'test/e2e/built-programs.test.ts',
    proves: 'the built programs pass tests that the sources pass',
    why: 'it builds all programs',
  },
  {
    path: 'test/e2e/trust-key.test.ts',
    proves:
      'a trust key from its first day to its loss, with the real hub, svc, svc-agent and minisign',
    why: 'it starts some forty programs; the decisions are tested beside the code',
  },
  {
    path: 'test/e2e/misbehaving-ca.test.ts',
    proves: 'no enrolment and no agent is harmed by a CA that misbehaves at random',
    why: 'it is long; src/hub/ca and test/conformance/enroll-and-the-ca.test.ts have each misbehaviour by itself',
  },
  {
    path: 'test/e2e/revoking-at-a-misbehaving-ca.test.ts',
    proves: 'such a CA revokes everything in the end',
    why: 'as above; test/conformance/ca-revocation.test.ts has the statements',
  },
  {
    path: 'test/e2e/recovery.test.ts',
    proves: 'an identity that expired while its host was off is recovered, on real processes',
    why: 'it waits until certificates expire; test/agent/recovery.test.ts turns the clock',
  },
  {
    path: 'test/fleet/run-fleet.test.ts',
    proves: 'the fleet of `npm run fleet` runs, survives a restart, and leaves nothing behind',
    why: 'it builds the driver with Go; the arithmetic of its report has tests in the first tier',
  },
  {
    path: 'test/simulation/dead-hub.test.ts',
    proves:
      'a fleet comes back by itself to a hub that was gone for six days, and sees what its operator dropped',
    why: 'it lives through two of them; test/conformance/restored-identities.test.ts has the statements',
  },
  {
    path: 'test/simulation/known-bugs.test.ts',
    proves: 'the simulation finds each bug that is put back in',
    why: 'it tests the tests; `npm run test:second` puts back a third of them, by its seed',
  },
  {
    path: 'test/simulation/new-histories.test.ts',
    proves: 'twenty-five histories that nobody has seen yet keep to the protocol',
    why: 'history.test.ts has a dozen, the same each time; `npm run simulate` has as many as are wanted',
  },
  {
    path: 'test/simulation/week.test.ts',
    proves: 'a virtual week of four agents with outages and wrong clocks',
    why: 'it is long; simulated histories have shorter weeks',
  },
]

/** The stories of the console that `npm run test:console` tells besides: together they take as long as a third of the second tier. */
const TOLD_IN_EACH_RUN = [
  'acceptance-credentials',
  'harness',
  'hostile-fleet',
  'oidc',
  'sign-in',
  'viewer',
].map((name) => `test/console/${name}.test.ts`)

/** Whether only `npm run test:console` and `npm run test:all` run it. */
export function isLeftToConsole(path: string): boolean {
  return path.startsWith('test/console/') && !TOLD_IN_EACH_RUN.includes(path)
}

export function tierOf(path: string): Tier {
  return SECOND_TIER.some((entry) => path.startsWith(entry.path)) ? 'second' : 'first'
}

/** Entries that name no file. */
export function findStaleEntries(paths: readonly string[]): string[] {
  return SECOND_TIER.map((entry) => entry.path).filter(
    (start) => !paths.some((path) => path.startsWith(start)),
  )
}

/** What a test of chance takes its seed from, each read where it is used. */
export const SEED_VARIABLES = ['SIM_SEED', 'FC_SEED', 'FUZZ_SEED', 'CA_SEED'] as const

/** Whether a test does something else with another seed: then the second tier runs it again, with a new one. */
export function isSeeded(text: string): boolean {
  return /\b(?:propertyRuns|seedFrom|tryRows)(?:<[^>]*>)?\(/.test(text)
}

/** The files of a run, those first that take longest: what comes last keeps one core waiting for the other. */
export function chooseFiles(sources: readonly SourceFile[], testRun: TestRun): string[] {
  return sources
    .filter(({ path, text }) => {
      if (testRun === 'all') return true
      return testRun === 'first'
        ? tierOf(path) === 'first'
        : (tierOf(path) === 'second' && !isLeftToConsole(path)) || isSeeded(text)
    })
    .map(({ path }) => path)
    .toSorted((a, b) => rankOf(a) - rankOf(b))
}

/** By what their path begins with; the small files beside the code fill the end. */
const LONGEST_FIRST = [
  'test/reliability/',
  'test/simulation/',
  'test/versions/',
  'test/machines/',
  'test/services/',
  'test/packages/',
  'test/e2e/',
  'test/cli/transcripts',
  'test/cli/',
  'test/conformance/',
  'test/',
  'src/hub/vault/',
  'src/hub/webhook/',
  'src/agent/',
]

function rankOf(path: string): number {
  const listed = LONGEST_FIRST.findIndex((start) => path.startsWith(start))
  return listed === -1 ? LONGEST_FIRST.length : listed
}
