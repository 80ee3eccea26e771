import { type Fault, testFaults } from '../../test/support/doctor-faults.ts'
import { type ChangedFacts, SOUND } from '../../test/support/sound-scene.ts'

const { settings, secrets, vault, disk } = SOUND
const MIB = 1024 * 1024
const GIB = 1024 * MIB

function withFile(at: number, changed: object): ChangedFacts {
  return { secrets: secrets.map((file, each) => (each === at ? { ...file, ...changed } : file)) }
}

const FAULTS: readonly Fault[] = [
  [
    'a setting that is missing',
    {
      settings: {
        ...settings,
        faults: [{ message: 'SVC_CA_URL is not set', variable: 'SVC_CA_URL' }],
      },
    },
    'settings',
    'error',
    /^SVC_CA_URL is not set$/,
  ],
  [
    'an unknown setting',
    { settings: { ...settings, unknown: [{ name: 'SVC_CA_URI', near: 'SVC_CA_URL' }] } },
    'settings',
    'warning',
    /^SVC_CA_URI is no setting of any program here; SVC_CA_URL is the nearest one$/,
  ],
  [
    'a weak passphrase',
    { settings: { ...settings, passphraseFaults: ['the master passphrase is short'] } },
    'settings',
    'warning',
    /is short$/,
  ],
  [
    'a hub without a name',
    { settings: { ...settings, isNamed: false } },
    'settings',
    'warning',
    /SVC_SERVER_CN is not set/,
  ],
  [
    'a secret that others may open',
    withFile(1, { mode: 0o100644 }),
    'files',
    'error',
    /^every user of this machine may open .*passphrase \(mode 644\)$/,
  ],
  [
    'a secret that its group may open',
    withFile(1, { mode: 0o100640 }),
    'files',
    'warning',
    /^its group may open/,
  ],
  [
    'a secret of somebody else',
    withFile(1, { uid: 1000 }),
    'files',
    'error',
    /belongs to user 1000, who is neither root nor the vault’s owner$/,
  ],
  [
    'a secret that is not there',
    withFile(1, { mode: undefined }),
    'files',
    'error',
    /^SVC_MASTER_PASSPHRASE_FILE: there is no file/,
  ],
  [
    'settings that others can change',
    withFile(0, { mode: 0o100666 }),
    'files',
    'error',
    /^others can change .*svc-server.env \(mode 666\)$/,
  ],
  [
    'a root file in a directory of somebody',
    withFile(2, { stranger: 'user 1000' }),
    'files',
    'error',
    /^user 1000 can change .*ca-root.crt/,
  ],
  [
    'secrets in settings that others may read',
    withFile(0, { holds: ['SVC_MASTER_PASSPHRASE'] }),
    'files',
    'error',
    /holds SVC_MASTER_PASSPHRASE, and others may read it \(mode 644\)$/,
  ],
  [
    'no vault',
    { vault: { ...vault, mode: undefined, files: undefined } },
    'vault',
    'error',
    /^there is no vault in/,
  ],
  [
    'an empty directory',
    { vault: { ...vault, files: [] } },
    'vault',
    'error',
    /^there is no vault in/,
  ],
  [
    'a vault without its database',
    { vault: { ...vault, files: vault.files?.filter(({ name }) => name !== 'db.enc') } },
    'vault',
    'error',
    /db.enc is not there$/,
  ],
  [
    'a vault that others may enter',
    { vault: { ...vault, mode: 0o40755 } },
    'vault',
    'warning',
    /^others may enter .* \(mode 755\)$/,
  ],
  [
    'a vault that somebody can replace',
    { vault: { ...vault, stranger: 'anyone' } },
    'vault',
    'error',
    /^anyone can put another directory in the place/,
  ],
  [
    'a file of root’s in the vault',
    {
      vault: {
        ...vault,
        files: [...(vault.files ?? []), { name: 'db.enc-wal', mode: 0o600, uid: 0 }],
      },
    },
    'vault',
    'error',
    /^db.enc-wal in \/var\/lib\/svc does not belong to svc-server$/,
  ],
  [
    'a file that others may open',
    {
      vault: {
        ...vault,
        files: [...(vault.files ?? []), { name: 'server.key', mode: 0o644, uid: 998 }],
      },
    },
    'vault',
    'warning',
    /^others may open server.key/,
  ],
  [
    'a vault that this user may not look into',
    { vault: { ...vault, files: undefined } },
    'vault',
    'unknown',
    /only svc-server and root can look into/,
  ],
  [
    'a disk below the floor',
    { disk: { ...disk, free_bytes: 50 * MIB } },
    'disk',
    'error',
    /^50.0 MiB are free .*, below the floor of 64.0 MiB: the hub refuses events$/,
  ],
  [
    'a disk near the floor',
    { disk: { ...disk, free_bytes: 100 * MIB, growth_bytes_per_day: null } },
    'disk',
    'warning',
    /^only 100 MiB are free/,
  ],
  [
    'a disk that is full in a fortnight',
    { disk: { ...disk, free_bytes: 10 * GIB, growth_bytes_per_day: GIB / 2 } },
    'disk',
    'warning',
    /lasts 19 days/,
  ],
  [
    'a disk that is full tomorrow',
    { disk: { ...disk, free_bytes: GIB, growth_bytes_per_day: GIB / 2 } },
    'disk',
    'error',
    /lasts 1 days/,
  ],
  [
    'a file system without room for files',
    { disk: { ...disk, files_free: 3 } },
    'disk',
    'error',
    /has room for 3 more files$/,
  ],
  [
    'a vault in memory',
    { disk: { ...disk, file_system: 0x01021994 } },
    'disk',
    'error',
    /is in memory \(tmpfs\)$/,
  ],
  [
    'a vault on NFS',
    { disk: { ...disk, file_system: 0x6969 } },
    'disk',
    'warning',
    /network file system \(NFS\)$/,
  ],
]

testFaults(
  '[DOC-7] [DOC-8] [DOC-9] [DOC-10] svc doctor finds, of settings, files and disk,',
  FAULTS,
)
