// A .deb from a list of files and a control directory (deb(5), Debian Policy chapters 3 to 10), by dpkg-deb.

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { exists } from '../../src/platform/files.ts'

export interface PackageFile {
  /** Absolute, on the machine where it is installed. */
  readonly path: string
  readonly content: { readonly from: string } | Uint8Array | string
  readonly mode: number
}

export interface DebianPackage {
  readonly name: string
  /** Holds `control`, with @VERSION@, @ARCHITECTURE@ and @INSTALLED_SIZE@, and the maintainer scripts. */
  readonly controlDirectory: string
  readonly files: readonly PackageFile[]
  readonly directories: readonly string[]
}

export interface PackageBuild {
  readonly version: string
  readonly architecture: string
  readonly outputDirectory: string
  /** The time that every file carries: the same input gives the same package. */
  readonly releasedAt: Date
}

const SCRIPTS = ['preinst', 'postinst', 'prerm', 'postrm']
// A twentieth of xz's time for a third more bytes. dpkg reads zstd, better at both, but lintian refuses it.
const COMPRESSION = ['-Zgzip', '-z4']

/** Returns the package's path. */
export async function buildDebianPackage(
  description: DebianPackage,
  { version, architecture, outputDirectory, releasedAt }: PackageBuild,
): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'cartorio-deb-'))
  try {
    await chmod(root, 0o755)
    for (const path of description.directories) await makeDirectory(root, path)
    const sums = await placeFiles(root, description.files)
    await writeControl(root, description, sums, { version, architecture })
    const path = join(outputDirectory, `${description.name}_${version}_${architecture}.deb`)
    const args = ['--root-owner-group', ...COMPRESSION, '--build', root, path]
    const epoch = String(releasedAt.getTime() / 1000)
    await promisify(execFile)('dpkg-deb', args, {
      env: { ...process.env, SOURCE_DATE_EPOCH: epoch },
    })
    return path
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

interface PlacedFiles {
  readonly kibibytes: number
  /** MD5 because deb(5) says so: it finds damage on disk, and protects from nobody. */
  readonly md5sums: string
}

async function placeFiles(root: string, files: readonly PackageFile[]): Promise<PlacedFiles> {
  let kibibytes = 0
  let md5sums = ''
  for (const { path, content, mode } of files) {
    const target = join(root, path)
    await makeDirectory(root, dirname(path))
    if (typeof content === 'object' && 'from' in content) await copyFile(content.from, target)
    else await writeFile(target, content)
    await chmod(target, mode)
    const bytes = await readFile(target)
    kibibytes += Math.ceil(bytes.length / 1024)
    md5sums += `${createHash('md5').update(bytes).digest('hex')}  ${path.slice(1)}\n`
  }
  return { kibibytes, md5sums }
}

/** Whatever the umask is. */
async function makeDirectory(root: string, path: string): Promise<void> {
  let directory = root
  for (const name of path.split('/')) {
    directory = join(directory, name)
    await mkdir(directory, { recursive: true })
    await chmod(directory, 0o755)
  }
}

async function writeControl(
  root: string,
  { controlDirectory }: DebianPackage,
  { kibibytes, md5sums }: PlacedFiles,
  { version, architecture }: { readonly version: string; readonly architecture: string },
): Promise<void> {
  const put = async (name: string, text: string, mode: number): Promise<void> => {
    await writeFile(join(root, 'DEBIAN', name), text)
    await chmod(join(root, 'DEBIAN', name), mode)
  }
  await makeDirectory(root, 'DEBIAN')
  const control = (await readFile(join(controlDirectory, 'control'), 'utf8'))
    .replace('@VERSION@', version)
    .replace('@ARCHITECTURE@', architecture)
    .replace('@INSTALLED_SIZE@', String(kibibytes))
  await put('control', control, 0o644)
  await put('md5sums', md5sums, 0o644)
  for (const script of SCRIPTS) {
    const source = join(controlDirectory, script)
    if (await exists(source)) await put(script, await readFile(source, 'utf8'), 0o755)
  }
}
