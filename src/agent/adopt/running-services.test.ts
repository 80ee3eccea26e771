import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findServices, parseArguments, parseUnit, type Process } from './running-services.ts'

function process(given: Partial<Process>): Process {
  return {
    pid: 10,
    parent: 1,
    uid: 0,
    gid: 0,
    program: '/usr/sbin/nginx',
    isProgramRoots: true,
    argv: [],
    workingDirectory: '/',
    unit: undefined,
    ...given,
  }
}

describe('the services that run', () => {
  test('[ADO-1] are known by their first process, and not by workers', () => {
    const found = findServices([
      process({ unit: 'nginx.service' }),
      process({ pid: 11, parent: 10, uid: 33 }),
      process({ pid: 20, program: '/usr/sbin/apache2' }),
      process({ pid: 21, parent: 20, program: '/usr/sbin/apache2' }),
      process({ pid: 30, program: '/usr/bin/vim' }),
    ])
    assert.deepEqual(
      found.map(({ kind, process: { pid } }) => [kind, pid]),
      [
        ['nginx', 10],
        ['apache', 20],
      ],
    )
  })

  test('[ADO-2] what people run is not looked at', () => {
    const postgres = '/usr/lib/postgresql/15/bin/postgres'
    const found = findServices([
      process({ uid: 33 }),
      process({ pid: 11, uid: 1000, program: postgres, argv: ['-D', '/home/eve/data'] }),
      process({ pid: 12, uid: 110, program: postgres, argv: ['-D', '/var/lib/data'] }),
      process({ pid: 13, uid: 33, program: '/var/www/caddy', isProgramRoots: false }),
    ])
    assert.deepEqual(
      found.map(({ process: { pid } }) => pid),
      [12],
    )
  })

  const reloads: readonly [string, Partial<Process>, readonly string[] | undefined][] = [
    [
      'of a unit',
      { unit: 'postgresql@15-main.service', program: '/usr/lib/postgresql/15/bin/postgres' },
      ['systemctl', 'reload', 'postgresql@15-main.service'],
    ],
    [
      'of nginx by hand',
      { argv: ['-g', 'daemon off;', '-c', '/n.conf'] },
      ['/usr/sbin/nginx', '-s', 'reload', '-c', '/n.conf'],
    ],
    [
      'of Debian’s Apache',
      { program: '/usr/sbin/apache2', argv: ['-k', 'start'] },
      ['apache2ctl', 'graceful'],
    ],
    [
      'of another Apache',
      { program: '/usr/sbin/apache2', argv: ['-d', '/a', '-f', '/a/c'] },
      ['/usr/sbin/apache2', '-d', '/a', '-f', '/a/c', '-k', 'graceful'],
    ],
    [
      'of HAProxy',
      { program: '/usr/sbin/haproxy', argv: ['-Ws', '-f', 'x', '-p', "run/ha'proxy.pid"] },
      ['/bin/sh', '-c', `kill -USR2 "$(head -n 1 '/run/ha'\\''proxy.pid')"`],
    ],
    [
      'of an HAProxy without a master',
      { program: '/usr/sbin/haproxy', argv: ['-f', 'x', '-p', '/p'] },
      undefined,
    ],
    [
      'of a Caddy of another user, who wrote what root would read',
      { program: '/usr/bin/caddy', uid: 33, argv: ['run', '--config', '/var/www/Caddyfile'] },
      undefined,
    ],
    [
      'of PostgreSQL, with the rights of its user',
      { program: '/pg/bin/postgres', uid: 110, gid: 117, argv: ['-D', '/data'] },
      [
        'setpriv',
        '--reuid=110',
        '--regid=117',
        '--clear-groups',
        '/pg/bin/pg_ctl',
        'reload',
        '-D',
        '/data',
      ],
    ],
    [
      'of Caddy',
      { program: '/usr/bin/caddy', argv: ['run', '--config', '/c'] },
      ['/usr/bin/caddy', 'reload', '--force', '--config', '/c', '--adapter', 'caddyfile'],
    ],
  ]
  for (const [what, given, expected] of reloads) {
    test(`[ADO-4] the reload ${what}`, () => {
      assert.deepEqual(findServices([process(given)])[0]?.reload, expected)
    })
  }

  test('[ADO-1] arguments, also those that nginx writes into its title', () => {
    assert.deepEqual(parseArguments('/usr/sbin/apache2\0-k\0start\0'), ['-k', 'start'])
    assert.deepEqual(
      parseArguments('nginx: master process /usr/sbin/nginx -c /etc/n.conf\0\0\0  '),
      ['-c', '/etc/n.conf'],
    )
  })

  test('[ADO-4] units of the system, and no others', () => {
    const cases: readonly [string, string | undefined][] = [
      ['0::/system.slice/nginx.service\n', 'nginx.service'],
      [
        '1:name=systemd:/system.slice/system-postgresql.slice/postgresql@15-main.service\n0::/\n',
        'postgresql@15-main.service',
      ],
      ['9:name=systemd:/\n1:cpu:/\n0::/system.slice/haproxy.service\n', 'haproxy.service'],
      ['0::/user.slice/user-0.slice/session-1.scope\n', undefined],
      ['0::/user.slice/user-1.slice/user@1.service/app.slice/nginx.service\n', undefined],
      ['0::/system.slice/docker-abc.scope\n', undefined],
    ]
    for (const [cgroup, unit] of cases) assert.equal(parseUnit(cgroup), unit)
  })
})
