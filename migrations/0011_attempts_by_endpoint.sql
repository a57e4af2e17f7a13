-- Nothing reads the attempts of one endpoint in the order of their time; the index was written at every attempt.
drop index delivery_attempts_by_endpoint;
