//! Lines, files and results of other tools: what is read of them and what is written.
#![allow(clippy::unwrap_used, reason = "what cannot be done fails the test")]

mod corpus_fio;
mod corpus_iometer;
mod corpus_ior;
mod corpus_iostat;
mod corpus_iozone;
mod corpus_mdtest;
mod corpus_metarates;
mod documented;
mod fio_files;
mod fio_names;
mod iometer_icf;
mod iometer_results;
mod ior;
mod ior_dummy;
mod ior_stonewall;
mod iostat;
mod iozone;
mod mdtest;
mod mdtest_dummy;
mod mdtest_left;
mod metarates;
mod mpi_world;
mod pretended;
mod random_words;
mod traces;
