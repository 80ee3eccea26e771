import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ConfigReader, expandPattern } from '../config-reader.ts'
import { findAcmeSh } from './acme-sh.ts'
import { findCertManagerCsi } from './cert-manager-csi.ts'
import { findCertbot } from './certbot.ts'
import type { FindRenewer } from './renewer.ts'
import { findStep } from './step.ts'

function readerOf(files: Readonly<Record<string, string>>): ConfigReader {
  const list = (directory: string): string[] | undefined => {
    const names = Object.keys(files)
      .filter((path) => path.startsWith(`${directory}/`))
      .map((path) => path.slice(directory.length + 1).split('/')[0] ?? '')
    return names.length === 0 ? undefined : [...new Set(names)].sort()
  }
  return {
    list,
    read: (path) => files[path],
    expand: (pattern) => expandPattern(pattern, list),
    place: (path) => path.replace('/alias/', '/etc/'),
  }
}

const plain = (path: string) => ({ path, realPath: path })

describe('who renews a file', () => {
  test('[ADO-3] certbot, by the link or by what it leads to; its hooks are told', async () => {
    const reader = readerOf({
      '/le/renewal/a.test.conf':
        'fullchain = /le/live/a.test/fullchain.pem\n[renewalparams]\nrenew_hook = systemctl reload x\npre_hook = y\n',
      '/le/renewal/b.test.conf': 'something else',
      '/le/cli.ini': 'email = a@b.test\npost-hook = z\n',
      '/le/renewal-hooks/deploy/10-mail': '',
      '/le/renewal-hooks/pre/stop': '',
    })
    const expected = [
      {
        kind: 'certbot',
        name: 'a.test',
        stop: {
          kind: 'rename',
          from: '/le/renewal/a.test.conf',
          to: '/le/renewal/a.test.conf.svc-adopted',
        },
        notes: [
          'certbot ran its renew_hook at a renewal: systemctl reload x',
          'certbot ran its pre_hook at a renewal: y',
          'certbot ran its post-hook at a renewal: z',
          'certbot ran /le/renewal-hooks/pre/stop at a renewal',
          'certbot ran /le/renewal-hooks/deploy/10-mail at a renewal',
        ],
      },
    ]
    assert.deepEqual(await findCertbot(reader, plain('/le/live/a.test/fullchain.pem')), expected)
    const link = { path: '/etc/nginx/site.pem', realPath: '/le/archive/a.test/fullchain7.pem' }
    assert.deepEqual(await findCertbot(reader, link), expected)
    assert.deepEqual(await findCertbot(reader, plain('/le/live/b.test/fullchain.pem')), [])
    assert.deepEqual(await findCertbot(reader, plain('/le/live/c.test/fullchain.pem')), [])
  })

  test('[ADO-3] acme.sh, by where it installs and by what it keeps', async () => {
    const encoded = Buffer.from('service x reload').toString('base64')
    const reader = readerOf({
      '/root/.acme.sh/account.conf': "Le_RealKeyPath='/etc/x.key'",
      '/root/.acme.sh/a.test_ecc/a.test.conf': `Le_Domain='a.test'\nLe_RealFullChainPath='/alias/x.pem'
Le_RenewHook='mail'
Le_ReloadCmd='__ACME_BASE64__START_${encoded}__ACME_BASE64__END_'\n`,
      '/root/.acme.sh/b.test/b.test.conf': `Le_Domain='b.test'\nLe_DeployHook='haproxy,'
SAVED_DEPLOY_HAPROXY_PEM_PATH='/etc/haproxy/certs'\nSAVED_DEPLOY_HAPROXY_RELOAD='service haproxy reload'\n`,
    })
    const [hook] = await findAcmeSh(['/root'])(reader, plain('/etc/haproxy/certs/b.test.pem'))
    assert.equal(hook?.name, 'b.test')
    assert.deepEqual(hook.notes, [
      'acme.sh ran after a renewal: service haproxy reload',
      'acme.sh ran its Le_DeployHook at a renewal: haproxy',
    ])
    const expected = [
      {
        kind: 'acme.sh',
        name: 'a.test_ecc',
        stop: {
          kind: 'rename',
          from: '/root/.acme.sh/a.test_ecc/a.test.conf',
          to: '/root/.acme.sh/a.test_ecc/a.test.conf.svc-adopted',
        },
        notes: [
          'acme.sh ran after a renewal: service x reload',
          'acme.sh ran its Le_RenewHook at a renewal: mail',
        ],
      },
    ]
    const find = findAcmeSh(['/home/none', '/root'])
    assert.deepEqual(await find(reader, plain('/etc/x.pem')), expected)
    assert.deepEqual(await find(reader, plain('/root/.acme.sh/a.test_ecc/fullchain.cer')), expected)
    assert.deepEqual(await find(reader, plain('/etc/x.key')), [])
  })

  test('[ADO-3] step: a daemon, the instance of a timer, a line of cron', async () => {
    const line = '0 4 * * * root step ca renew --force /alias/c.crt /etc/c.key'
    const reader = readerOf({
      '/units/renew-a.service':
        'ExecStart=/usr/bin/step ca renew --daemon \\\n  /alias/a.crt /etc/a.key\nExecStartPost=true x\n',
      '/units/cert-renewer@.service':
        'Environment=STEPPATH=/etc/step-ca \\\n CERT_LOCATION=/etc/%i.crt \\\n KEY_LOCATION=/etc/%i.key\nExecStart=/usr/bin/step ca renew --force ${CERT_LOCATION} ${KEY_LOCATION}\n',
      '/units/cert-renewer@.timer': '',
      '/units/timers.target.wants/cert-renewer@b.timer': '',
      '/units/timers.target.wants/cert-renewer@other.timer': '',
      '/cron/step': `# step ca renew /etc/c.crt\n${line}\n`,
    })
    const find = findStep(
      { isEnabled: async () => true, isActive: async (unit) => unit.endsWith('.timer') },
      [],
      { units: ['/units'], cron: ['/cron/*'] },
    )
    assert.deepEqual(await find(reader, plain('/etc/a.crt')), [
      {
        kind: 'step',
        name: 'renew-a.service',
        stop: { kind: 'unit', unit: 'renew-a.service', is_enabled: true, is_active: false },
        notes: ['step ran after a renewal: true x'],
      },
    ])
    assert.deepEqual(await find(reader, plain('/etc/b.key')), [
      {
        kind: 'step',
        name: 'cert-renewer@b.timer',
        stop: { kind: 'unit', unit: 'cert-renewer@b.timer', is_enabled: true, is_active: true },
        notes: [],
      },
    ])
    assert.deepEqual(await find(reader, plain('/etc/c.crt')), [
      {
        kind: 'cron',
        name: '/cron/step',
        stop: { kind: 'line', path: '/cron/step', line },
        notes: [],
      },
    ])
    assert.deepEqual(await find(reader, plain('/etc/d.crt')), [])
  })

  test('[ADO-3] [ADO-8] what another adoption has stopped is stopped for this one too', async () => {
    const line = '0 4 * * * root step ca renew --force /etc/c.crt /etc/c.key'
    const reader = readerOf({
      '/le/renewal/a.test.conf.svc-adopted': 'fullchain = /le/live/a.test/fullchain.pem\n',
      '/root/.acme.sh/a.test/a.test.conf.svc-adopted':
        "Le_Domain='a.test'\nLe_RealFullChainPath='/etc/x.pem'\n",
      '/units/renew@.service': 'ExecStart=step ca renew --force /etc/%i.crt /etc/%i.key\n',
      '/units/renew@.timer': '',
      '/cron/step': `# svc-agent adopt: ${line}\n# ${line}\n`,
    })
    const stopOf = async (found: ReturnType<FindRenewer>) => (await found).map(({ stop }) => stop)
    assert.deepEqual(await stopOf(findCertbot(reader, plain('/le/live/a.test/fullchain.pem'))), [
      {
        kind: 'rename',
        from: '/le/renewal/a.test.conf',
        to: '/le/renewal/a.test.conf.svc-adopted',
      },
    ])
    assert.deepEqual(await stopOf(findAcmeSh(['/root'])(reader, plain('/etc/x.pem'))), [
      {
        kind: 'rename',
        from: '/root/.acme.sh/a.test/a.test.conf',
        to: '/root/.acme.sh/a.test/a.test.conf.svc-adopted',
      },
    ])
    const unit = { kind: 'unit', unit: 'renew@b.timer', is_enabled: true, is_active: true } as const
    const off = async (): Promise<boolean> => false
    const find = findStep({ isEnabled: off, isActive: off }, [unit], {
      units: ['/units'],
      cron: ['/cron/*'],
    })
    assert.deepEqual(await stopOf(find(reader, plain('/etc/b.crt'))), [unit])
    assert.deepEqual(await stopOf(find(reader, plain('/etc/c.crt'))), [
      { kind: 'line', path: '/cron/step', line },
    ])
  })

  test('[ADO-4] step: a unit or a line that renews several, or stands in no text, is not stopped', async () => {
    const reader = readerOf({
      '/units/all.service':
        'ExecStart=step ca renew --force /etc/a.crt /etc/a.key\nExecStart=step ca renew /etc/b.crt /etc/b.key\n',
      '/cron/step': '* * * * * root step ca renew /etc/a.crt x; step ca renew /etc/c.crt x\n',
      '/cron/latin': '# caf\uFFFD\n* * * * * root step ca renew /etc/a.crt x\n',
    })
    const on = async (): Promise<boolean> => true
    const find = findStep({ isEnabled: on, isActive: on }, [], {
      units: ['/units'],
      cron: ['/cron/*'],
    })
    const found = await find(reader, plain('/etc/a.crt'))
    assert.deepEqual(
      found.map(({ name, stop }) => [name, stop]),
      [
        ['all.service', undefined],
        ['/cron/latin', undefined],
        ['/cron/step', undefined],
      ],
    )
  })

  test('[ADO-3] cert-manager’s csi, which cannot be stopped from the host', async () => {
    const volume = '/var/lib/kubelet/pods/1/volumes/kubernetes.io~csi/tls'
    const of = (driver: string) =>
      findCertManagerCsi(readerOf({ [`${volume}/vol_data.json`]: `{"driverName": "${driver}"}` }), {
        path: '/tls/tls.crt',
        realPath: `${volume}/mount/tls.crt`,
      })
    assert.deepEqual(await of('csi.cert-manager.io'), [
      {
        kind: 'cert-manager csi',
        name: 'tls',
        stop: undefined,
        notes: ['Kubernetes fills this volume: take it out of the pod, and give the service files'],
      },
    ])
    assert.deepEqual(await of('other.csi.example'), [])
  })
})
