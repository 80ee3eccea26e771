// The checks of `svc doctor`, in the order in which they are printed. docs/reference/doctor.md is written from this table.

import { Unchecked } from './finding.ts'
import { judgeAuthority, judgeClock } from './judge-authority.ts'
import { judgeIssuers, judgeLifetime, judgeOwnCertificate } from './judge-certificates.ts'
import { judgeArchive } from './judge-archive.ts'
import { judgeBackups } from './judge-backups.ts'
import { judgeCheckpoint } from './judge-checkpoint.ts'
import { judgeDatabase } from './judge-database.ts'
import { judgeDisk } from './judge-disk.ts'
import {
  judgeAgents,
  judgeDeliveries,
  judgeHub,
  judgeLog,
  judgeRevocations,
  judgeRollouts,
  judgeWebhooks,
} from './judge-hub.ts'
import { judgeCoreDumps, judgeLimits, judgeNames, judgePorts, judgeSwap } from './judge-machine.ts'
import { judgeOpenid } from './judge-openid.ts'
import { judgePublicUrl } from './judge-public-url.ts'
import { judgeFiles, judgeSettings } from './judge-settings.ts'
import { judgeStandby } from './judge-standby.ts'
import { judgeVault } from './judge-vault.ts'
import type { Check } from './run-checks.ts'
import type { HubFacts, Scene } from './scene.ts'

const HUB =
  'a hub that answers: its admin socket (root, the vault’s owner) or an admin token (viewer)'
const HUB_OR_SETTINGS = `${HUB}; without a hub the settings`
const SETTINGS = 'to read the settings'
const ROOT = 0
const DEFAULT_SETTINGS = '/etc/svc-server/svc-server.env'

interface Examined {
  readonly status: NonNullable<HubFacts['status']>
  readonly examination: NonNullable<HubFacts['examination']>
}

/** What the hub says of itself, by a hub that answers and knows how. */
async function examined(scene: Scene): Promise<Examined> {
  const { status, examination } = await scene.hub()
  if (status === undefined) throw notAnswering()
  if (examination === undefined) {
    throw new Unchecked('the hub is too old to say', { isExpected: true })
  }
  return { status, examination }
}

async function answered(scene: Scene): Promise<NonNullable<HubFacts['status']>> {
  const { status } = await scene.hub()
  if (status === undefined) throw notAnswering()
  return status
}

function notAnswering(): Unchecked {
  return new Unchecked('no hub answers; what is in the vault only a hub can say', {
    isExpected: true,
  })
}

/** For what is of use and not needed. */
async function ifKnown<T>(look: Promise<T>): Promise<T | undefined> {
  return look.catch((error: unknown) => {
    if (error instanceof Unchecked) return undefined
    throw error
  })
}

export const CHECKS: readonly Check[] = [
  {
    id: 'hub',
    title: 'the hub answers, is ready, and is of this version',
    finds:
      'a hub that does not run, waits, is not ready (with its reasons), or is of another version than `svc`',
    needs: 'the admin socket (root, the vault’s owner) or an admin token (viewer)',
    run: async (scene) => {
      const standby = await ifKnown(scene.standby())
      if (standby?.role === 'standby') {
        throw new Unchecked('this machine is a standby: ask on the hub', { isExpected: true })
      }
      return judgeHub(await scene.hub(), await ifKnown(scene.unit()), scene.version)
    },
  },
  {
    id: 'settings',
    title: 'the settings are whole',
    finds:
      'settings that are missing, wrong, or of a name that nobody reads; a weak passphrase; a hub without a name',
    needs: 'to read the settings; for the passphrase, to read its file',
    run: async (scene) => judgeSettings(await scene.settings()),
  },
  {
    id: 'files',
    title: 'settings and secrets are in the right hands',
    finds:
      'files of secrets that others may open or that are not there; settings and roots that others can change; secrets in settings that others may read',
    needs: SETTINGS,
    run: async (scene) => {
      const vault = await ifKnown(scene.vault())
      const owners = [ROOT, ...(vault?.mode === undefined ? [] : [vault.uid])]
      return judgeFiles(await scene.secrets(), owners)
    },
  },
  {
    id: 'vault',
    title: 'the vault is there, and its owner’s alone',
    finds:
      'no vault; files that are not there, belong to somebody else, or are open to others; a directory that others can replace',
    needs: 'root, or the vault’s owner',
    run: async (scene) => judgeVault(await scene.vault()),
  },
  {
    id: 'disk',
    title: 'the vault’s file system has room',
    finds:
      'free space near or below `SVC_LIMIT_FREE_SPACE`, or used up in 30 days at the growth of the last week; no room for files; a vault in memory or on a network file system; a file system that does not answer',
    needs: `${HUB_OR_SETTINGS}, and then only the size of the vault needs its owner`,
    run: async (scene) => judgeDisk(await scene.disk()),
  },
  {
    id: 'clock',
    title: 'hub and CA agree on the time',
    finds: 'a clock over 30 s from the CA’s; an error from 1 min ahead or 5 min behind on',
    needs: HUB_OR_SETTINGS,
    run: async (scene) => judgeClock(await scene.authority()),
  },
  {
    id: 'ca',
    title: 'the CA answers and knows the hub’s provisioner',
    finds:
      'a CA that does not answer or is not trusted; no provisioner of the configured key id, or of another kind, key or name',
    needs: `${HUB_OR_SETTINGS}, and for the key, to read the file of SVC_CA_PROVISIONER_KEY`,
    run: async (scene) => {
      const path = (await ifKnown(scene.settings()))?.path ?? DEFAULT_SETTINGS
      return judgeAuthority(await scene.authority(), path)
    },
  },
  {
    id: 'database',
    title: 'the database of several hubs can be trusted',
    finds:
      'a database of `SVC_DATABASE_URL`, where that is set, which a hub would refuse or warn of: not reached, pooled, too old, without durability, without a synchronous standby, with another time, without the rights that the hub needs',
    needs: 'to read the settings, and the file of SVC_DATABASE_URL',
    run: async (scene) => {
      const path = (await ifKnown(scene.settings()))?.path ?? DEFAULT_SETTINGS
      return judgeDatabase(await scene.database(), path)
    },
  },
  {
    id: 'standby',
    title: 'hub and standby are together',
    finds:
      'a standby that lacks writes, or a hub that writes nothing without it; a standby that does not run, has no copy yet, or hears nothing of its hub; a vault whose standby was promoted',
    needs: 'root, or the vault’s owner',
    run: async (scene) => judgeStandby(await scene.standby()),
  },
  {
    id: 'lifetime',
    title: 'what the CA gives lives long enough',
    finds:
      'a renewal that begins less than an hour before the end, by the threshold or by the life that the CA gives',
    needs: `${HUB_OR_SETTINGS}, and the vault’s owner`,
    run: async (scene) => {
      const settings = await ifKnown(scene.settings())
      return judgeLifetime(
        await scene.certificates(),
        settings?.renewalThresholdMs ?? DEFAULT_THRESHOLD_MS,
      )
    },
  },
  {
    id: 'certificate',
    title: 'the hub’s own certificate is good',
    finds:
      'a certificate that has ended, is renewed late, has not begun, or lacks a name of the settings',
    needs: `${HUB_OR_SETTINGS}, and the vault’s owner`,
    run: async (scene) => {
      const names = (await ifKnown(scene.settings()))?.serverNames
      return judgeOwnCertificate(await scene.certificates(), names, scene.now())
    },
  },
  {
    id: 'issuers',
    title: 'roots and intermediates last',
    finds:
      'a root that ends within 90 days, an intermediate that ends within 30; an error from 7 days on',
    needs: HUB_OR_SETTINGS,
    run: async (scene) => judgeIssuers(await scene.certificates(), scene.now()),
  },
  {
    id: 'names',
    title: 'the hub’s names are found',
    finds: 'names of `SVC_SERVER_CN` and `SVC_SERVER_SANS` that this machine does not find',
    needs: SETTINGS,
    run: async (scene) => judgeNames(await scene.names()),
  },
  {
    id: 'public-url',
    title: 'where hosts enrol shows a good certificate',
    finds:
      '`SVC_PUBLIC_URL`, where it is set, that this machine does not reach, or whose certificate is not trusted, ends soon or has ended',
    needs: SETTINGS,
    run: async (scene) => judgePublicUrl(await scene.publicUrl(), scene.now()),
  },
  {
    id: 'ports',
    title: 'the hub has its ports',
    finds:
      'an address of a hub that does not run which another program has; an address of a hub that runs where nobody listens',
    needs: SETTINGS,
    run: async (scene) => {
      const { status, failure, waitsFor } = await scene.hub()
      // One that starts opens the others when it has its certificate.
      if (status === undefined && (failure !== undefined || waitsFor.length > 0)) {
        throw new Unchecked('not known while the hub does not answer', { isExpected: true })
      }
      return judgePorts(await scene.listeners(), status !== undefined, await ifKnown(scene.unit()))
    },
  },
  {
    id: 'limits',
    title: 'the hub may open enough files',
    finds: 'a limit of open files below `SVC_LIMIT_CONNECTIONS`, or below what the fleet can hold',
    needs: `${HUB}; without a hub its unit`,
    run: async (scene) => {
      const settings = await ifKnown(scene.settings())
      const { status } = (await ifKnown(scene.hub())) ?? {}
      const unit = await ifKnown(scene.unit())
      const agents = status?.agentes.registered
      return judgeLimits(await scene.limits(), settings?.connectionsMax, agents, unit)
    },
  },
  {
    id: 'core-dumps',
    title: 'a crash writes no secrets to the disk',
    finds: 'a hub that may leave a core dump, by its limit or by `kernel.core_pattern`',
    needs: `${HUB}; without a hub its unit`,
    run: async (scene) =>
      judgeCoreDumps(await scene.limits(), await scene.machine(), await ifKnown(scene.unit())),
  },
  {
    id: 'swap',
    title: 'the hub’s memory is not written to a disk',
    finds: 'swap that is neither in memory nor encrypted, and that the hub may use',
    needs: `${HUB}; without a hub its unit`,
    run: async (scene) =>
      judgeSwap(await scene.limits(), await scene.machine(), await ifKnown(scene.unit())),
  },
  {
    id: 'log',
    title: 'the audit log goes on where it was',
    finds: 'a log whose last entries do not fit',
    needs: HUB,
    run: async (scene) => {
      const { status, examination } = await examined(scene)
      return judgeLog(examination.backlog, status)
    },
  },
  {
    id: 'checkpoint',
    title: 'checkpoints cover the whole log',
    finds:
      'a log whose newest entries no checkpoint has covered for 5 minutes, in the vault or in the directory of `SVC_CHECKPOINT_PATH`; such a directory that the hub cannot use, or that is on the file system of the vault',
    needs: `${HUB}; for the directory, the vault’s owner`,
    run: async (scene) => {
      const said = (await scene.hub()).examination?.checkpoints ?? undefined
      const directory = await ifKnown(scene.checkpointDirectory())
      return judgeCheckpoint(said, directory, scene.now())
    },
  },
  {
    id: 'backup',
    title: 'backups are made',
    finds:
      'a newest backup in `SVC_BACKUP_DIR`, where it is set, that is two intervals old, or none; such a directory that the hub cannot use, or that is on the file system of the vault',
    needs: `${HUB}, or the vault’s owner`,
    run: async (scene) => {
      const said = (await scene.hub()).examination?.backups ?? undefined
      const here = await ifKnown(scene.backups())
      const intervalMs = (await ifKnown(scene.settings()))?.backupIntervalMs
      return judgeBackups(said, here, intervalMs, scene.now())
    },
  },
  {
    id: 'archive',
    title: 'the segments of the log are there',
    finds:
      'segments in `SVC_LOG_ARCHIVE_DIR` that are not there, that the hub cannot read, or that are not as long as they have to be',
    needs: HUB,
    run: async (scene) => judgeArchive((await scene.hub()).examination?.segments ?? undefined),
  },
  {
    id: 'agents',
    title: 'agents renew in time',
    finds: 'agents that are silent or late with a certificate',
    needs: HUB,
    run: async (scene) => {
      const late = (await scene.hub()).examination?.backlog.late ?? []
      return judgeAgents(await answered(scene), late, scene.now())
    },
  },
  {
    id: 'deliveries',
    title: 'what is delivered arrives',
    finds: 'deliveries that have failed, or whose target was taken back',
    needs: HUB,
    run: async (scene) => {
      // A hub up to 0.4.0 does not count them.
      const { entregas } = (await answered(scene)) as Partial<Examined['status']>
      if (entregas === undefined)
        throw new Unchecked('the hub is too old to say', { isExpected: true })
      return judgeDeliveries({ entregas })
    },
  },
  {
    id: 'rollouts',
    title: 'no rollout is frozen',
    finds: 'rollouts that too many failures have frozen',
    needs: HUB,
    run: async (scene) => {
      // A hub up to 0.4.0 has none.
      const { rollouts, freeze = null } = (await answered(scene)) as Partial<Examined['status']>
      if (rollouts === undefined) {
        throw new Unchecked('the hub is too old to say', { isExpected: true })
      }
      return judgeRollouts({ rollouts, freeze })
    },
  },
  {
    id: 'webhooks',
    title: 'webhooks keep up',
    finds: 'webhooks that fail, are disabled, have 1,000 messages waiting, or were given up on',
    needs: HUB,
    run: async (scene) => judgeWebhooks((await examined(scene)).examination.backlog),
  },
  {
    id: 'revocations',
    title: 'the CA revokes what the hub revoked',
    finds:
      'certificates that wait for 15 minutes to be revoked at the CA, or that it refused to revoke',
    needs: HUB,
    run: async (scene) =>
      judgeRevocations((await examined(scene)).examination.backlog, scene.now()),
  },
  {
    id: 'openid',
    title: 'the OpenID provider answers',
    finds:
      'an OpenID provider of `SVC_OIDC_ISSUER` that does not answer, is not trusted, or is another one; a console to which it cannot send anybody back',
    needs: HUB,
    run: async (scene) => judgeOpenid((await examined(scene)).examination.openid),
  },
]

/** LIM-17. */
const DEFAULT_THRESHOLD_MS = 6 * 3_600_000
