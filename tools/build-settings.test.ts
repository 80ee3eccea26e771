import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readVersion } from '../src/platform/version.ts'
import { parseBuildSettings } from './build/build-settings.ts'

// Of a key pair that nobody has any more.
const PUBLIC_KEY = 'RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3'

test('[UPD-15] a build has the version of the package, and no key, unless it is told otherwise', () => {
  const plain = { version: readVersion(), releasePublicKey: undefined }
  assert.deepEqual(parseBuildSettings({}), plain)
  assert.deepEqual(
    parseBuildSettings({ SVC_BUILD_VERSION: '', SVC_RELEASE_PUBLIC_KEY: ' ' }),
    plain,
  )
  assert.deepEqual(
    parseBuildSettings({ SVC_BUILD_VERSION: '1.2.3', SVC_RELEASE_PUBLIC_KEY: `${PUBLIC_KEY}\n` }),
    { version: '1.2.3', releasePublicKey: PUBLIC_KEY },
  )
})

test('[UPD-15] a build with a version or a key that is none says so', () => {
  assert.throws(
    () => parseBuildSettings({ SVC_BUILD_VERSION: 'v1.2.3' }),
    /SVC_BUILD_VERSION is not MAJOR\.MINOR\.PATCH: v1\.2\.3/,
  )
  for (const key of ['none', PUBLIC_KEY.slice(1), `untrusted comment: x\n${PUBLIC_KEY}`]) {
    assert.throws(
      () => parseBuildSettings({ SVC_RELEASE_PUBLIC_KEY: key }),
      /SVC_RELEASE_PUBLIC_KEY is not a public key of minisign/,
    )
  }
})
