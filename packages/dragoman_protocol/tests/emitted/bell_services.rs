// Made of the description of the bell's protocol.
vec![
    row::<dragoman_ros::bell_msgs::srv::Ring::Service>(
        Command::Ring.ros_name(),
        |call| match call {
            Request::Ring { house, tones, place } => Some(dragoman_ros::bell_msgs::srv::Ring::Request { house, tones, place: place.into_ros() }),
            _ => None,
        },
        |request| Request::Ring { house: request.house, tones: request.tones, place: Field::from_ros(request.place) },
        |response| Outcome::Values([vec![response.loudness], <[f64; 3]>::from_ros(response.place).to_vec()].concat()),
        |outcome| dragoman_ros::bell_msgs::srv::Ring::Response { loudness: number(&outcome, 0), place: [1, 2, 3].map(|place| number(&outcome, place)).into_ros(), ..Default::default() },
        |response| &mut response.found,
    ),
    row::<dragoman_ros::bell_msgs::srv::Silence::Service>(
        Command::Hush.ros_name(),
        |call| match call {
            Request::Hush { house } => Some(dragoman_ros::bell_msgs::srv::Silence::Request { house }),
            _ => None,
        },
        |request| Request::Hush { house: request.house },
        |_| Outcome::Done,
        |_| dragoman_ros::bell_msgs::srv::Silence::Response { ..Default::default() },
        |response| &mut response.found,
    ),
]
