-- Ledger, db.copying.copy
CREATE TABLE campaign ( id SERIAL NOT NULL, name VARCHAR(200) NOT NULL, problem TEXT NOT NULL, method
    VARCHAR(40) NOT NULL, depth INTEGER NOT NULL, tasks INTEGER NOT NULL, work FLOAT(53) NOT NULL, created
    FLOAT(53) NOT NULL, PRIMARY KEY (id), UNIQUE (name) );

-- Ledger, db.copying.copy
CREATE TABLE task ( campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, work FLOAT(53) NOT NULL, state
    VARCHAR(12) NOT NULL, failures INTEGER NOT NULL, PRIMARY KEY (campaign_id, task_index), FOREIGN
    KEY(campaign_id) REFERENCES campaign (id) );

-- Ledger, db.copying.copy
CREATE INDEX task_queue ON task (campaign_id, state, work);

-- Ledger, db.copying.copy
CREATE TABLE worker ( id VARCHAR(36) NOT NULL, host VARCHAR(255) NOT NULL, process VARCHAR(80) NOT NULL, started
    FLOAT(53) NOT NULL, PRIMARY KEY (id) );

-- Ledger, db.copying.copy
CREATE TABLE attempt ( id SERIAL NOT NULL, campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, worker_id
    VARCHAR(36) NOT NULL, granted FLOAT(53) NOT NULL, deadline FLOAT(53) NOT NULL, ended FLOAT(53), outcome
    VARCHAR(12), note TEXT, PRIMARY KEY (id), FOREIGN KEY(campaign_id, task_index) REFERENCES task (campaign_id,
    task_index), FOREIGN KEY(worker_id) REFERENCES worker (id) );

-- Ledger, db.copying.copy
CREATE INDEX attempt_open ON attempt (ended, deadline);

-- Ledger, db.copying.copy
CREATE INDEX attempt_task ON attempt (campaign_id, task_index);

-- Ledger, db.copying.copy
CREATE TABLE result ( campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, attempt_id INTEGER NOT NULL,
    value TEXT NOT NULL, residue TEXT NOT NULL, evaluated TEXT NOT NULL, seconds FLOAT(53) NOT NULL, provenance
    TEXT NOT NULL, accepted FLOAT(53) NOT NULL, PRIMARY KEY (campaign_id, task_index), FOREIGN KEY(campaign_id,
    task_index) REFERENCES task (campaign_id, task_index), FOREIGN KEY(attempt_id) REFERENCES attempt (id) );

-- Ledger, db.copying.copy
CREATE TABLE event ( id SERIAL NOT NULL, campaign_id INTEGER NOT NULL, task_index INTEGER, attempt_id INTEGER,
    at FLOAT(53) NOT NULL, kind VARCHAR(12) NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (id), FOREIGN
    KEY(campaign_id) REFERENCES campaign (id) );

-- Ledger, db.copying.copy
CREATE TABLE token ( id SERIAL NOT NULL, campaign_id INTEGER NOT NULL, role VARCHAR(10) NOT NULL, digest
    VARCHAR(64) NOT NULL, created FLOAT(53) NOT NULL, PRIMARY KEY (id), FOREIGN KEY(campaign_id) REFERENCES
    campaign (id), UNIQUE (digest) );

-- Ledger, db.copying.copy
ALTER TABLE campaign ADD COLUMN replicate FLOAT(53) DEFAULT '0' NOT NULL;

-- Ledger, db.copying.copy
ALTER TABLE worker ADD COLUMN kernel VARCHAR(10) DEFAULT 'cpu' NOT NULL;

-- Ledger, db.copying.copy
ALTER TABLE worker ADD COLUMN distrusted FLOAT(53);

-- Ledger, db.copying.copy
CREATE INDEX attempt_worker ON attempt (worker_id);

-- Ledger, db.copying.copy
CREATE TABLE recheck ( campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, attempt_id INTEGER, PRIMARY
    KEY (campaign_id, task_index), FOREIGN KEY(campaign_id, task_index) REFERENCES task (campaign_id,
    task_index), FOREIGN KEY(attempt_id) REFERENCES attempt (id) );

-- Ledger, db.copying.copy
CREATE TABLE witness ( id SERIAL NOT NULL, campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, attempt_id
    INTEGER NOT NULL, value TEXT NOT NULL, residue TEXT NOT NULL, evaluated TEXT NOT NULL, seconds FLOAT(53) NOT
    NULL, provenance TEXT NOT NULL, accepted FLOAT(53) NOT NULL, PRIMARY KEY (id), FOREIGN KEY(campaign_id,
    task_index) REFERENCES task (campaign_id, task_index), FOREIGN KEY(attempt_id) REFERENCES attempt (id) );

-- Ledger, db.copying.copy
CREATE INDEX witness_task ON witness (campaign_id, task_index);

-- Ledger, db.copying.copy
DROP INDEX attempt_open;

-- Ledger, db.copying.copy
CREATE INDEX attempt_open ON attempt (deadline)
WHERE ended IS NULL;

-- Ledger, db.copying.copy
ALTER TABLE campaign RENAME COLUMN replicate TO recheck_share;

-- Ledger, db.copying.copy
ALTER TABLE worker RENAME COLUMN kernel TO device_kind;

-- Ledger, db.copying.copy
CREATE TABLE ledger ( uuid VARCHAR(36) NOT NULL, created FLOAT(53) NOT NULL, PRIMARY KEY (uuid) );

-- Ledger, db.copying.copy
INSERT INTO ledger (uuid, created)
VALUES (%(uuid)s, %(created)s);

-- Ledger, db.copying.copy
ALTER TABLE campaign ADD COLUMN uuid VARCHAR(36) DEFAULT '' NOT NULL;

-- Ledger, db.copying.copy
SELECT id
FROM campaign;

-- Ledger, db.copying.copy
ALTER TABLE attempt ADD COLUMN nonce VARCHAR(64);

-- Ledger, db.copying.copy
ALTER TABLE worker ADD COLUMN kernels VARCHAR(64);

-- Ledger, db.copying.copy
DROP INDEX attempt_worker;

-- Ledger, db.copying.copy
CREATE INDEX attempt_worker ON attempt (worker_id, ended);

-- Ledger, db.copying.copy
ALTER TABLE token ADD COLUMN expires FLOAT(53);

-- Ledger, db.copying.copy
ALTER TABLE token ADD COLUMN label VARCHAR(100) DEFAULT '' NOT NULL;

-- Ledger, db.copying.copy, Database
ALTER TABLE campaign ADD COLUMN seed INTEGER DEFAULT '0' NOT NULL;

-- Ledger.uuid
SELECT ledger.uuid
FROM ledger;

-- Ledger.create_campaign, Ledger.campaign, Ledger.take
SELECT campaign.id, campaign.uuid, campaign.name, campaign.problem, campaign.method, campaign.depth,
    campaign.seed, campaign.tasks, campaign.work, campaign.created, campaign.recheck_share
FROM campaign
WHERE campaign.name = %(name_1)s::VARCHAR;

-- Ledger.create_campaign
INSERT INTO campaign (uuid, name, problem, method, depth, seed, tasks, work, created, recheck_share)
VALUES (%(uuid)s::VARCHAR, %(name)s::VARCHAR, %(problem)s::VARCHAR, %(method)s::VARCHAR, %(depth)s::INTEGER,
    %(seed)s::INTEGER, %(tasks)s::INTEGER, %(work)s, extract(epoch from clock_timestamp()), %(recheck_share)s)
RETURNING campaign.id;

-- Ledger.create_campaign
INSERT INTO task (task_index, work, campaign_id, state, failures) SELECT anon_1.task_index, anon_1.work,
    %(param_1)s::INTEGER AS anon_2, %(param_2)s::VARCHAR AS anon_3, %(param_3)s::INTEGER AS anon_4
FROM json_to_recordset(%(rows)s::JSON) AS anon_1(task_index INTEGER, work FLOAT(53))
WHERE true;

-- Ledger.create_campaign
ANALYZE task;

-- Ledger.create_campaign, Campaign.fail, Campaign.deliver, Ledger.take
INSERT INTO event (campaign_id, task_index, attempt_id, at, kind, detail)
VALUES (%(campaign_id)s::INTEGER, %(task_index)s::INTEGER, %(attempt_id)s::INTEGER, extract(epoch from
    clock_timestamp()), %(kind)s::VARCHAR, %(detail)s::VARCHAR)
RETURNING event.id;

-- Ledger.campaigns, db.copying.copy
SELECT campaign.id, campaign.uuid, campaign.name, campaign.problem, campaign.method, campaign.depth,
    campaign.seed, campaign.tasks, campaign.work, campaign.created, campaign.recheck_share
FROM campaign
ORDER BY campaign.id;

-- Ledger.enrol, Ledger.take
SELECT worker.id
FROM worker
WHERE worker.id = %(id_1)s::VARCHAR;

-- Ledger.enrol, Ledger.take
INSERT INTO worker (id, host, process, started, device_kind, kernels)
VALUES (%(id)s::VARCHAR, %(host)s::VARCHAR, %(process)s::VARCHAR, extract(epoch from clock_timestamp()),
    %(device_kind)s::VARCHAR, %(kernels)s::VARCHAR);

-- Campaign.lease
UPDATE attempt
SET ended=extract(epoch from clock_timestamp()), outcome=%(how)s::VARCHAR, note=coalesce(%(why)s::VARCHAR,
    attempt.note)
WHERE attempt.deadline < extract(epoch from clock_timestamp())
AND attempt.ended IS NULL
RETURNING attempt.id, attempt.campaign_id, attempt.task_index;

-- Campaign.lease
SELECT worker.device_kind, worker.distrusted, EXISTS (SELECT recheck.task_index
FROM recheck
WHERE recheck.campaign_id = %(campaign)s::INTEGER) AS waiting
FROM worker
WHERE worker.id = %(worker)s::VARCHAR;

-- Campaign.lease
INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline) SELECT task.campaign_id,
    task.task_index, %(worker)s::VARCHAR AS anon_1, %(nonce)s::VARCHAR AS anon_2, extract(epoch from
    clock_timestamp()) AS anon_3, extract(epoch from clock_timestamp()) + %(seconds)s AS anon_4
FROM task
WHERE task.campaign_id = %(campaign)s::INTEGER
AND task.state = %(state_1)s::VARCHAR
ORDER BY task.work DESC
LIMIT %(count)s::INTEGER
FOR UPDATE SKIP LOCKED
RETURNING attempt.task_index, attempt.id;

-- Campaign.lease
UPDATE task
SET state=%(state)s::VARCHAR
WHERE task.campaign_id = %(campaign)s::INTEGER
AND (task.task_index = ANY (%(tasks)s::BIGINT[]))
RETURNING task.task_index, task.work;

-- Campaign.lease, Campaign.release, Campaign.release_worker, Campaign.fail, Campaign.deliver, Ledger.take
UPDATE recheck
SET attempt_id=%(attempt_id)s::INTEGER
WHERE (recheck.attempt_id = ANY (%(attempts)s::BIGINT[]));

-- Campaign.lease, Campaign.release, Campaign.release_worker, Campaign.fail, Campaign.deliver, Ledger.take
UPDATE task
SET state=%(state)s::VARCHAR
WHERE task.campaign_id = %(campaign)s::INTEGER
AND (task.task_index = ANY (%(tasks)s::BIGINT[]))
AND task.state = %(state_1)s::VARCHAR;

-- Campaign.lease
SELECT attempt.id, attempt.campaign_id
FROM attempt
WHERE attempt.worker_id = %(worker)s::VARCHAR
AND attempt.ended IS NULL;

-- Campaign.lease, Campaign.release, Campaign.fail, Campaign.deliver, Ledger.take
UPDATE attempt
SET ended=extract(epoch from clock_timestamp()), outcome=%(how)s::VARCHAR, note=coalesce(%(why)s::VARCHAR,
    attempt.note)
WHERE (attempt.id = ANY (%(attempts)s::BIGINT[]))
AND attempt.ended IS NULL
RETURNING attempt.id, attempt.campaign_id, attempt.task_index;

-- Campaign.renew, Campaign.release, Campaign.fail
SELECT attempt.id, attempt.campaign_id, attempt.task_index, attempt.nonce
FROM attempt
WHERE (attempt.id = ANY (%(attempts)s::BIGINT[]));

-- Campaign.renew
UPDATE attempt
SET deadline=(extract(epoch from clock_timestamp()) + %(seconds)s)
WHERE (attempt.id = ANY (%(attempts)s::BIGINT[]))
AND attempt.ended IS NULL;

-- Campaign.renew
SELECT attempt.id
FROM attempt
WHERE (attempt.id = ANY (%(attempts)s::BIGINT[]))
AND attempt.ended IS NULL;

-- Campaign.lease_holders
SELECT worker.id, worker.host, worker.process
FROM worker
WHERE worker.id IN (SELECT DISTINCT attempt.worker_id
FROM attempt
WHERE attempt.campaign_id = %(campaign_id_1)s::INTEGER
AND attempt.ended IS NULL);

-- Campaign.release_worker, Campaign.deliver
UPDATE attempt
SET ended=extract(epoch from clock_timestamp()), outcome=%(how)s::VARCHAR, note=coalesce(%(why)s::VARCHAR,
    attempt.note)
WHERE attempt.worker_id = %(worker)s::VARCHAR
AND attempt.ended IS NULL
RETURNING attempt.id, attempt.campaign_id, attempt.task_index;

-- Campaign.fail, Campaign.deliver
UPDATE task
SET failures=(task.failures + %(failures_1)s::INTEGER)
WHERE task.campaign_id = %(campaign_id_1)s::INTEGER
AND task.task_index = %(task_index_1)s::INTEGER;

-- Campaign.fail, Campaign.deliver
SELECT task.failures
FROM task
WHERE task.campaign_id = %(campaign_id_1)s::INTEGER
AND task.task_index = %(task_index_1)s::INTEGER;

-- Campaign.fail, Campaign.deliver, Ledger.take
DELETE
FROM recheck
WHERE recheck.campaign_id = %(campaign_id_1)s::INTEGER
AND recheck.task_index = %(task_index_1)s::INTEGER;

-- Campaign.reopen
UPDATE task
SET state=%(state)s::VARCHAR, failures=%(failures)s::INTEGER
WHERE task.campaign_id = %(campaign_id_1)s::INTEGER
AND task.state = %(state_1)s::VARCHAR;

-- Campaign.set_recheck_share
UPDATE campaign
SET recheck_share=%(recheck_share)s
WHERE campaign.id = %(id_1)s::INTEGER;

-- Campaign.deliver, Ledger.take
SELECT attempt.id, attempt.campaign_id, attempt.task_index, attempt.nonce, attempt.worker_id, worker.distrusted,
    result.value, result.attempt_id AS by
FROM attempt
JOIN worker ON worker.id = attempt.worker_id
LEFT OUTER JOIN result ON result.campaign_id = attempt.campaign_id
AND result.task_index = attempt.task_index
WHERE (attempt.id = ANY (%(attempts)s::BIGINT[]));

-- Campaign.deliver
INSERT INTO result (campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance,
    accepted) SELECT anon_1.campaign_id, anon_1.task_index, anon_1.attempt_id, anon_1.value, anon_1.residue,
    anon_1.evaluated, anon_1.seconds, anon_1.provenance, extract(epoch from clock_timestamp()) AS anon_2
FROM json_to_recordset(%(rows)s::JSON) AS anon_1(campaign_id INTEGER, task_index INTEGER, attempt_id INTEGER,
    value TEXT, residue TEXT, evaluated TEXT, seconds FLOAT(53), provenance TEXT)
WHERE true
ON CONFLICT DO NOTHING
RETURNING result.task_index;

-- Campaign.deliver
SELECT attempt.id
FROM attempt
WHERE attempt.campaign_id = %(campaign_id_1)s::INTEGER
AND attempt.worker_id = %(worker_id_1)s::VARCHAR
AND attempt.outcome = %(outcome_1)s::VARCHAR
LIMIT %(param_1)s::INTEGER;

-- Campaign.deliver
UPDATE attempt
SET ended=extract(epoch from clock_timestamp()), outcome=%(outcome)s::VARCHAR
WHERE (attempt.id = ANY (%(attempts)s::BIGINT[]))
AND attempt.ended IS NULL;

-- Campaign.deliver
UPDATE task
SET state=%(state)s::VARCHAR
WHERE task.campaign_id = %(campaign)s::INTEGER
AND (task.task_index = ANY (%(tasks)s::BIGINT[]));

-- Campaign.deliver
INSERT INTO recheck (campaign_id, task_index)
VALUES (%(campaign_id)s::INTEGER, %(task_index)s::INTEGER)
ON CONFLICT DO NOTHING;

-- Campaign.lease
INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline) SELECT recheck.campaign_id,
    recheck.task_index, %(worker)s::VARCHAR AS anon_1, %(nonce)s::VARCHAR AS anon_2, extract(epoch from
    clock_timestamp()) AS anon_3, extract(epoch from clock_timestamp()) + %(seconds)s AS anon_4
FROM recheck
JOIN result ON result.campaign_id = recheck.campaign_id
AND result.task_index = recheck.task_index
JOIN attempt ON attempt.id = result.attempt_id
JOIN worker ON worker.id = attempt.worker_id
WHERE recheck.campaign_id = %(campaign)s::INTEGER
AND recheck.attempt_id IS NULL
AND attempt.worker_id != %(worker)s::VARCHAR
AND NOT (EXISTS (SELECT witness.id
FROM witness
JOIN attempt ON attempt.id = witness.attempt_id
WHERE witness.campaign_id = recheck.campaign_id
AND witness.task_index = recheck.task_index
AND attempt.worker_id = %(worker)s::VARCHAR))
ORDER BY worker.device_kind = %(own_device_kind)s::VARCHAR, recheck.task_index
LIMIT %(count)s::INTEGER
FOR UPDATE OF recheck SKIP LOCKED
RETURNING attempt.task_index, attempt.id;

-- Campaign.lease
UPDATE recheck
SET attempt_id=%(attempt_id)s::INTEGER
WHERE recheck.campaign_id = %(campaign_id_1)s::INTEGER
AND recheck.task_index = %(task_index_1)s::INTEGER;

-- Campaign.lease
SELECT task.task_index, task.work
FROM task
WHERE task.campaign_id = %(campaign_id_1)s::INTEGER
AND (task.task_index = ANY (%(tasks)s::BIGINT[]));

-- Campaign.deliver, Ledger.take
SELECT witness.attempt_id, witness.value
FROM witness
WHERE (witness.attempt_id = ANY (%(attempts)s::BIGINT[]));

-- Campaign.deliver, Ledger.take
INSERT INTO witness (campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance,
    accepted)
VALUES (%(campaign_id)s::INTEGER, %(task_index)s::INTEGER, %(attempt_id)s::INTEGER, %(value)s::VARCHAR,
    %(residue)s::VARCHAR, %(evaluated)s::VARCHAR, %(seconds)s, %(provenance)s::VARCHAR, extract(epoch from
    clock_timestamp()));

-- Campaign.deliver, Ledger.take
SELECT task.task_index
FROM task
WHERE task.campaign_id = %(campaign_id_1)s::INTEGER
AND (task.task_index = ANY (%(tasks)s::BIGINT[]))
ORDER BY task.task_index
FOR NO KEY UPDATE;

-- Campaign.deliver, Ledger.take
SELECT result.campaign_id, result.task_index, result.attempt_id, result.value, result.residue, result.evaluated,
    result.seconds, result.provenance, result.accepted, attempt.worker_id, worker.distrusted
FROM result
JOIN attempt ON attempt.id = result.attempt_id
JOIN worker ON worker.id = attempt.worker_id
WHERE result.campaign_id = %(campaign_id_1)s::INTEGER
AND result.task_index = %(task_index_1)s::INTEGER
ORDER BY result.accepted;

-- Campaign.deliver, Ledger.take
SELECT witness.id, witness.campaign_id, witness.task_index, witness.attempt_id, witness.value, witness.residue,
    witness.evaluated, witness.seconds, witness.provenance, witness.accepted, attempt.worker_id,
    worker.distrusted
FROM witness
JOIN attempt ON attempt.id = witness.attempt_id
JOIN worker ON worker.id = attempt.worker_id
WHERE witness.campaign_id = %(campaign_id_1)s::INTEGER
AND witness.task_index = %(task_index_1)s::INTEGER
ORDER BY witness.accepted;

-- Campaign.deliver
INSERT INTO witness (campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance,
    accepted)
VALUES (%(campaign_id)s::INTEGER, %(task_index)s::INTEGER, %(attempt_id)s::INTEGER, %(value)s::VARCHAR,
    %(residue)s::VARCHAR, %(evaluated)s::VARCHAR, %(seconds)s, %(provenance)s::VARCHAR, extract(epoch from
    clock_timestamp()))
RETURNING witness.id;

-- Campaign.results, Campaign.progress
SELECT event.task_index, event.kind, event.detail
FROM event
WHERE event.campaign_id = %(campaign_id_1)s::INTEGER
AND event.kind IN (%(kind_1_1)s::VARCHAR, %(kind_1_2)s::VARCHAR)
ORDER BY event.id;

-- Campaign.deliver
SELECT result.attempt_id, result.value, result.residue, result.evaluated, result.seconds, result.provenance,
    result.accepted
FROM result
WHERE result.campaign_id = %(campaign_id_1)s::INTEGER
AND result.task_index = %(task_index_1)s::INTEGER;

-- Campaign.deliver
SELECT witness.attempt_id, witness.value, witness.residue, witness.evaluated, witness.seconds,
    witness.provenance, witness.accepted
FROM witness
WHERE witness.id = %(id_1)s::INTEGER;

-- Campaign.deliver
UPDATE result
SET attempt_id=%(attempt_id)s::INTEGER, value=%(value)s::VARCHAR, residue=%(residue)s::VARCHAR,
    evaluated=%(evaluated)s::VARCHAR, seconds=%(seconds)s, provenance=%(provenance)s::VARCHAR,
    accepted=%(accepted)s
WHERE result.campaign_id = %(campaign_id_1)s::INTEGER
AND result.task_index = %(task_index_1)s::INTEGER;

-- Campaign.deliver
UPDATE witness
SET attempt_id=%(attempt_id)s::INTEGER, value=%(value)s::VARCHAR, residue=%(residue)s::VARCHAR,
    evaluated=%(evaluated)s::VARCHAR, seconds=%(seconds)s, provenance=%(provenance)s::VARCHAR,
    accepted=%(accepted)s
WHERE witness.id = %(id_1)s::INTEGER;

-- Campaign.deliver
UPDATE worker
SET distrusted=extract(epoch from clock_timestamp())
WHERE worker.id = %(id_1)s::VARCHAR;

-- Campaign.deliver
SELECT DISTINCT attempt.campaign_id
FROM attempt
WHERE attempt.worker_id = %(worker_id_1)s::VARCHAR;

-- Campaign.deliver
SELECT result.task_index
FROM result
JOIN attempt AS attempt_1 ON attempt_1.id = result.attempt_id
JOIN worker ON worker.id = attempt_1.worker_id
WHERE result.campaign_id = %(campaign_id_1)s::INTEGER
AND worker.distrusted IS NOT NULL
AND NOT (EXISTS (SELECT witness.id
FROM witness
JOIN attempt AS attempt_2 ON attempt_2.id = witness.attempt_id
JOIN worker AS worker_1 ON worker_1.id = attempt_2.worker_id
WHERE witness.campaign_id = result.campaign_id
AND witness.task_index = result.task_index
AND witness.value = result.value
AND worker_1.distrusted IS NULL))
AND worker.id = %(id_1)s::VARCHAR
ORDER BY result.task_index;

-- Campaign.results
SELECT result.task_index
FROM result
JOIN attempt AS attempt_1 ON attempt_1.id = result.attempt_id
JOIN worker ON worker.id = attempt_1.worker_id
WHERE result.campaign_id = %(campaign_id_1)s::INTEGER
AND worker.distrusted IS NOT NULL
AND NOT (EXISTS (SELECT witness.id
FROM witness
JOIN attempt AS attempt_2 ON attempt_2.id = witness.attempt_id
JOIN worker AS worker_1 ON worker_1.id = attempt_2.worker_id
WHERE witness.campaign_id = result.campaign_id
AND witness.task_index = result.task_index
AND witness.value = result.value
AND worker_1.distrusted IS NULL))
ORDER BY result.task_index;

-- Campaign.export, Ledger.take
SELECT result.task_index, result.value, result.residue, result.evaluated, result.seconds, result.provenance
FROM result
WHERE result.campaign_id = %(campaign_id_1)s::INTEGER
ORDER BY result.task_index;

-- Campaign.results
SELECT result.task_index, result.value, result.residue, result.evaluated
FROM result
WHERE result.campaign_id = %(campaign_id_1)s::INTEGER
ORDER BY result.task_index;

-- Ledger.take
SELECT attempt.task_index, attempt.note
FROM attempt
WHERE attempt.campaign_id = %(campaign_id_1)s::INTEGER
AND (attempt.note LIKE %(note_1)s::VARCHAR || '%%');

-- Ledger.take
INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline, note) SELECT p0::INTEGER,
    p1::INTEGER, p2::VARCHAR, p3::VARCHAR, p4::FLOAT(53), p5::FLOAT(53), p6::VARCHAR
FROM (VALUES (%(campaign_id__0)s::INTEGER, %(task_index__0)s::INTEGER, %(worker_id__0)s::VARCHAR,
    %(nonce__0)s::VARCHAR, extract(epoch from clock_timestamp()), extract(epoch from clock_timestamp()),
    %(note__0)s::VARCHAR, 0), (%(campaign_id__1)s::INTEGER, %(task_index__1)s::INTEGER,
    %(worker_id__1)s::VARCHAR, %(nonce__1)s::VARCHAR, extract(epoch from clock_timestamp()), extract(epoch from
    clock_timestamp()), %(note__1)s::VARCHAR, 1)) AS imp_sen(p0, p1, p2, p3, p4, p5, p6, sen_counter)
ORDER BY sen_counter
RETURNING attempt.id, attempt.id AS id__1;

-- Campaign.new_token
INSERT INTO token (campaign_id, role, digest, created, expires, label)
VALUES (%(campaign_id)s::INTEGER, %(role)s::VARCHAR, %(digest)s::VARCHAR, extract(epoch from clock_timestamp()),
    (extract(epoch from clock_timestamp()) + %(param_1)s), %(label)s::VARCHAR)
RETURNING token.id;

-- Campaign.tokens
SELECT token.id, token.role, token.label, token.created, token.expires
FROM token
WHERE token.campaign_id = %(campaign_id_1)s::INTEGER
ORDER BY token.id;

-- Campaign.revoke_token
DELETE
FROM token
WHERE token.campaign_id = %(campaign_id_1)s::INTEGER
AND token.id = %(id_1)s::INTEGER;

-- Campaign.role_of
SELECT token.digest, token.role
FROM token
WHERE token.campaign_id = %(campaign)s::INTEGER
AND (token.expires IS NULL OR token.expires > extract(epoch from clock_timestamp()));

-- Campaign.revoke_tokens
DELETE
FROM token
WHERE token.campaign_id = %(campaign_id_1)s::INTEGER;

-- Campaign.progress, Campaign.standing
SELECT task.state, count(*) AS count_1, sum(task.work) AS sum_1
FROM task
WHERE task.campaign_id = %(campaign)s::INTEGER
AND task.state IN (%(state_1_1)s::VARCHAR, %(state_1_2)s::VARCHAR, %(state_1_3)s::VARCHAR)
GROUP BY task.state;

-- Campaign.progress
SELECT coalesce(attempt.outcome, %(coalesce_2)s::VARCHAR) AS coalesce_1, count(*) AS count_1
FROM attempt
WHERE attempt.campaign_id = %(campaign_id_1)s::INTEGER
GROUP BY attempt.outcome;

-- Campaign.progress
SELECT count(*) AS count_1
FROM event
WHERE event.campaign_id = %(campaign_id_1)s::INTEGER
AND event.kind = %(kind_1)s::VARCHAR;

-- Campaign.progress
SELECT result.seconds, result.evaluated
FROM result
WHERE result.campaign_id = %(campaign_id_1)s::INTEGER;

-- Campaign.progress
SELECT count(*) AS count_1
FROM recheck
WHERE recheck.campaign_id = %(campaign_id_1)s::INTEGER;

-- Campaign.rechecks
SELECT count(*) AS count_1
FROM recheck
WHERE recheck.campaign_id = %(campaign_id_1)s::INTEGER
AND recheck.attempt_id IS NULL;

-- Campaign.task_records
SELECT task.task_index, task.state, task.work, task.failures, result.value, result.residue, result.evaluated,
    result.seconds, result.provenance
FROM task
LEFT OUTER JOIN result ON result.campaign_id = task.campaign_id
AND result.task_index = task.task_index
WHERE task.campaign_id = %(campaign_id_1)s::INTEGER
ORDER BY task.task_index;

-- Campaign.task_records
SELECT task.task_index, task.state, task.work, task.failures, result.value, result.residue, result.evaluated,
    result.seconds, result.provenance
FROM task
LEFT OUTER JOIN result ON result.campaign_id = task.campaign_id
AND result.task_index = task.task_index
WHERE task.campaign_id = %(campaign_id_1)s::INTEGER
AND task.state = %(state_1)s::VARCHAR
ORDER BY task.task_index;

-- db.copying.copy
SELECT count(*) AS count_1
FROM attempt
WHERE attempt.ended IS NULL;

-- db.copying.copy
SELECT count(*) AS count_1
FROM campaign;

-- db.copying.copy
DELETE
FROM ledger;

-- db.copying.copy
INSERT INTO campaign (id, uuid, name, problem, method, depth, seed, tasks, work, created, recheck_share)
VALUES (%(id)s::INTEGER, %(uuid)s::VARCHAR, %(name)s::VARCHAR, %(problem)s::VARCHAR, %(method)s::VARCHAR,
    %(depth)s::INTEGER, %(seed)s::INTEGER, %(tasks)s::INTEGER, %(work)s, %(created)s, %(recheck_share)s);

-- db.copying.copy
SELECT setval(pg_get_serial_sequence('campaign', 'id'), (SELECT coalesce(max(id), 0) + 1
FROM campaign), false);

-- db.copying.copy
SELECT ledger.uuid, ledger.created
FROM ledger
ORDER BY ledger.uuid;

-- db.copying.copy
INSERT INTO ledger (uuid, created)
VALUES (%(uuid)s::VARCHAR, %(created)s);

-- db.copying.copy
SELECT worker.id, worker.host, worker.process, worker.started, worker.device_kind, worker.kernels,
    worker.distrusted
FROM worker
ORDER BY worker.id;

-- db.copying.copy
INSERT INTO worker (id, host, process, started, device_kind, kernels, distrusted)
VALUES (%(id)s::VARCHAR, %(host)s::VARCHAR, %(process)s::VARCHAR, %(started)s, %(device_kind)s::VARCHAR,
    %(kernels)s::VARCHAR, %(distrusted)s);

-- db.copying.copy
SELECT event.id, event.campaign_id, event.task_index, event.attempt_id, event.at, event.kind, event.detail
FROM event
ORDER BY event.id;

-- db.copying.copy
INSERT INTO event (id, campaign_id, task_index, attempt_id, at, kind, detail)
VALUES (%(id)s::INTEGER, %(campaign_id)s::INTEGER, %(task_index)s::INTEGER, %(attempt_id)s::INTEGER, %(at)s,
    %(kind)s::VARCHAR, %(detail)s::VARCHAR);

-- db.copying.copy
SELECT setval(pg_get_serial_sequence('event', 'id'), (SELECT coalesce(max(id), 0) + 1
FROM event), false);

-- db.copying.copy
SELECT task.campaign_id, task.task_index, task.work, task.state, task.failures
FROM task
ORDER BY task.campaign_id, task.task_index;

-- db.copying.copy
INSERT INTO task (campaign_id, task_index, work, state, failures)
VALUES (%(campaign_id)s::INTEGER, %(task_index)s::INTEGER, %(work)s, %(state)s::VARCHAR, %(failures)s::INTEGER);

-- db.copying.copy
SELECT token.id, token.campaign_id, token.role, token.digest, token.created, token.expires, token.label
FROM token
ORDER BY token.id;

-- db.copying.copy
INSERT INTO token (id, campaign_id, role, digest, created, expires, label)
VALUES (%(id)s::INTEGER, %(campaign_id)s::INTEGER, %(role)s::VARCHAR, %(digest)s::VARCHAR, %(created)s,
    %(expires)s, %(label)s::VARCHAR);

-- db.copying.copy
SELECT setval(pg_get_serial_sequence('token', 'id'), (SELECT coalesce(max(id), 0) + 1
FROM token), false);

-- db.copying.copy
SELECT attempt.id, attempt.campaign_id, attempt.task_index, attempt.worker_id, attempt.nonce, attempt.granted,
    attempt.deadline, attempt.ended, attempt.outcome, attempt.note
FROM attempt
ORDER BY attempt.id;

-- db.copying.copy
INSERT INTO attempt (id, campaign_id, task_index, worker_id, nonce, granted, deadline, ended, outcome, note)
VALUES (%(id)s::INTEGER, %(campaign_id)s::INTEGER, %(task_index)s::INTEGER, %(worker_id)s::VARCHAR,
    %(nonce)s::VARCHAR, %(granted)s, %(deadline)s, %(ended)s, %(outcome)s::VARCHAR, %(note)s::VARCHAR);

-- db.copying.copy
SELECT setval(pg_get_serial_sequence('attempt', 'id'), (SELECT coalesce(max(id), 0) + 1
FROM attempt), false);

-- db.copying.copy
SELECT recheck.campaign_id, recheck.task_index, recheck.attempt_id
FROM recheck
ORDER BY recheck.campaign_id, recheck.task_index;

-- db.copying.copy
INSERT INTO recheck (campaign_id, task_index, attempt_id)
VALUES (%(campaign_id)s::INTEGER, %(task_index)s::INTEGER, %(attempt_id)s::INTEGER);

-- db.copying.copy
SELECT result.campaign_id, result.task_index, result.attempt_id, result.value, result.residue, result.evaluated,
    result.seconds, result.provenance, result.accepted
FROM result
ORDER BY result.campaign_id, result.task_index;

-- db.copying.copy
INSERT INTO result (campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance,
    accepted)
VALUES (%(campaign_id)s::INTEGER, %(task_index)s::INTEGER, %(attempt_id)s::INTEGER, %(value)s::VARCHAR,
    %(residue)s::VARCHAR, %(evaluated)s::VARCHAR, %(seconds)s, %(provenance)s::VARCHAR, %(accepted)s);

-- db.copying.copy
SELECT witness.id, witness.campaign_id, witness.task_index, witness.attempt_id, witness.value, witness.residue,
    witness.evaluated, witness.seconds, witness.provenance, witness.accepted
FROM witness
ORDER BY witness.id;

-- db.copying.copy
INSERT INTO witness (id, campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance,
    accepted)
VALUES (%(id)s::INTEGER, %(campaign_id)s::INTEGER, %(task_index)s::INTEGER, %(attempt_id)s::INTEGER,
    %(value)s::VARCHAR, %(residue)s::VARCHAR, %(evaluated)s::VARCHAR, %(seconds)s, %(provenance)s::VARCHAR,
    %(accepted)s);

-- db.copying.copy
SELECT setval(pg_get_serial_sequence('witness', 'id'), (SELECT coalesce(max(id), 0) + 1
FROM witness), false);
