import type { IssuedCertificate, NewIssuedCertificate } from '../../domain/issued-certificate.ts'
import type { StandingCertificate } from '../../domain/root-set.ts'
import { type Instant, toDate } from './instants.ts'

export interface NewCertificateRow {
  sha256: string
  serial: string
  agente_id: IssuedCertificate['agentId']
  purpose: IssuedCertificate['purpose']
  entrega_id: IssuedCertificate['deliveryId']
  not_before: Instant
  not_after: Instant
  raiz: string | null
}

export interface CertificateRow extends NewCertificateRow {
  seq: number
  revoked_at: Instant | null
  first_used_at: Instant | null
}

export interface StandingCertificateRow {
  agente_id: StandingCertificate['agentId']
  hostname: string
  nome: string | null
  serial: string
  not_after: Instant
  raiz: string | null
}

export function toCertificate(row: CertificateRow): IssuedCertificate {
  return {
    seq: row.seq,
    sha256: row.sha256,
    serial: row.serial,
    agentId: row.agente_id,
    purpose: row.purpose,
    deliveryId: row.entrega_id,
    notBefore: new Date(row.not_before),
    notAfter: new Date(row.not_after),
    rootSha256: row.raiz,
    revokedAt: toDate(row.revoked_at),
    firstUsedAt: toDate(row.first_used_at),
  }
}

export function fromNewCertificate(certificate: NewIssuedCertificate): NewCertificateRow {
  return {
    sha256: certificate.sha256,
    serial: certificate.serial,
    agente_id: certificate.agentId,
    purpose: certificate.purpose,
    entrega_id: certificate.deliveryId,
    not_before: certificate.notBefore.getTime(),
    not_after: certificate.notAfter.getTime(),
    raiz: certificate.rootSha256,
  }
}

export function toStandingCertificate(row: StandingCertificateRow): StandingCertificate {
  return {
    agentId: row.agente_id,
    hostname: row.hostname,
    deliveryName: row.nome,
    serial: row.serial,
    notAfter: new Date(row.not_after),
    rootSha256: row.raiz,
  }
}
